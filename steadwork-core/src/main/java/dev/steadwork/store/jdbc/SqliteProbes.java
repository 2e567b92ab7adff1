package dev.steadwork.store.jdbc;

import dev.steadwork.Finding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What may be wrong with an SQLite file. */
final class SqliteProbes {
    private static final long BIG_LOG_BYTES = 256L * 1024 * 1024;
    private static final long MANY_FREE_BYTES = 256L * 1024 * 1024;
    private static final long QUICK_CHECK_BYTES = 64L * 1024 * 1024;

    private final Database database;

    SqliteProbes(Database database) {
        this.database = database;
    }

    Map<String, Probe> all() {
        var probes = new LinkedHashMap<String, Probe>();
        probes.put("journal mode", this::journalMode);
        probes.put("write-ahead log", this::log);
        probes.put("free pages", this::freePages);
        probes.put("integrity", this::integrity);
        return probes;
    }

    private String pragma(String statement) {
        return database.look(
                handle -> handle.createQuery(statement).mapTo(String.class).one());
    }

    /** Null if the database is in memory. */
    private @Nullable Path file() {
        var name = database.look(
                handle -> handle.createQuery("SELECT file FROM pragma_database_list WHERE name = 'main' AND file <> ''")
                        .mapTo(String.class)
                        .findOne());
        return name.map(Path::of).orElse(null);
    }

    private List<Finding> journalMode(String check) {
        if (file() == null) {
            return List.of(Finding.warn(
                    check,
                    "The database is in memory.",
                    "Everything is lost with the process: use a file for real work."));
        }
        var mode = pragma("PRAGMA journal_mode");
        var synchronous = pragma("PRAGMA synchronous");
        var seen = "journal_mode is %s, synchronous is %s.".formatted(mode, synchronous);
        if (!mode.equals("wal")) {
            return List.of(
                    Finding.warn(
                            check,
                            seen,
                            "Set journal_mode=WAL in the data source: readers and the writer then do not wait for each other."));
        }
        return List.of(
                synchronous.equals("2") || synchronous.equals("3")
                        ? Finding.ok(check, seen)
                        : Finding.bad(
                                check,
                                seen,
                                "Set synchronous=FULL: otherwise what was committed last is lost when the power fails."));
    }

    private List<Finding> log(String check) {
        var file = file();
        if (file == null) {
            return List.of(Finding.ok(check, "The database is in memory and has none."));
        }
        long bytes = size(file.resolveSibling(file.getFileName() + "-wal"));
        var seen = "The write-ahead log has %d MB.".formatted(bytes / 1024 / 1024);
        return List.of(
                bytes <= BIG_LOG_BYTES
                        ? Finding.ok(check, seen)
                        : Finding.warn(
                                check,
                                seen,
                                "A reader that never ends keeps it from being emptied: look for a forgotten connection or shell."));
    }

    private static long size(Path file) {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Finding> freePages(String check) {
        long page = Long.parseLong(pragma("PRAGMA page_size"));
        long free = Long.parseLong(pragma("PRAGMA freelist_count")) * page;
        long all = Long.parseLong(pragma("PRAGMA page_count")) * page;
        var seen = "%d of %d MB of the file are free.".formatted(free / 1024 / 1024, all / 1024 / 1024);
        return List.of(
                free > MANY_FREE_BYTES && free > all / 2
                        ? Finding.warn(
                                check,
                                seen,
                                "They are used again. To give them back, run VACUUM while nothing else runs.")
                        : Finding.ok(check, seen));
    }

    /** Reads the whole file, so only if it is small. */
    private List<Finding> integrity(String check) {
        var file = file();
        long bytes = file == null ? 0 : size(file);
        if (bytes > QUICK_CHECK_BYTES) {
            return List.of(Finding.unknown(
                    check,
                    "Not looked at: the file has %d MB, and all of it would be read.".formatted(bytes / 1024 / 1024),
                    "Run PRAGMA quick_check at a quiet time."));
        }
        var answer = database.read(handle ->
                handle.createQuery("PRAGMA quick_check(1)").mapTo(String.class).one());
        return List.of(
                answer.equals("ok")
                        ? Finding.ok(check, "PRAGMA quick_check says ok.")
                        : Finding.bad(
                                check, "PRAGMA quick_check says: " + answer, "Restore a backup; the file is damaged."));
    }
}
