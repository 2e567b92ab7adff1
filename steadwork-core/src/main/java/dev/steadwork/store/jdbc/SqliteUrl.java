package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidArgument;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where an SQLite database is.
 *
 * @param file the database file; null if the database is in memory
 */
record SqliteUrl(String url, @Nullable Path file) {
    static final String PREFIX = "jdbc:sqlite:";

    static SqliteUrl parse(String url) {
        var name = url.substring(PREFIX.length());
        int parameters = name.indexOf('?');
        var path = parameters < 0 ? name : name.substring(0, parameters);
        if (path.isEmpty() || path.contains(":memory:") || name.contains("mode=memory")) {
            return new SqliteUrl(url, null);
        }
        try {
            return new SqliteUrl(
                    url, Path.of(path.replaceFirst("^file:(//)?", "")).toAbsolutePath());
        } catch (InvalidPathException e) {
            throw new InvalidArgument("'%s' is not the path of a file.".formatted(path));
        }
    }

    boolean isInMemory() {
        return file == null;
    }

    /** Refuses a path where no database can be. */
    void check() {
        if (file == null) {
            return;
        }
        var directory = file.getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new InvalidArgument(
                    "There is no directory %s for the database file %s. Create it.".formatted(directory, file));
        }
        if (Files.isDirectory(file)) {
            throw new InvalidArgument("%s is a directory; a database file is needed.".formatted(file));
        }
    }

    String place() {
        return file == null ? "an SQLite database in memory" : "the SQLite file " + file;
    }
}
