package dev.steadwork.examples.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The files of a demo.
 *
 * @param database the SQLite file
 * @param folder the temporary folder around it, to be deleted at the end; null if nothing is
 */
record DemoFiles(Path database, @Nullable Path folder) implements AutoCloseable {

    static DemoFiles of(DemoOptions options) throws IOException {
        var given = options.database();
        if (given != null) {
            var files = new DemoFiles(given, null);
            if (!Files.exists(given)) {
                Files.deleteIfExists(files.attempts());
            }
            return files;
        }
        var folder = Files.createTempDirectory("steadwork-demo-");
        return new DemoFiles(folder.resolve("orders.db"), options.keep() ? null : folder);
    }

    /** Where the workers note what they do. */
    Path attempts() {
        return beside("-attempts.log");
    }

    /** What the worker processes print. */
    Path workerOutput() {
        return beside("-workers.log");
    }

    private Path beside(String suffix) {
        return database.resolveSibling(database.getFileName() + suffix);
    }

    /** Whether the files are still there when the demo has ended. */
    boolean isKept() {
        return folder == null;
    }

    /** How to go on later, if that is possible. */
    String hintToGoOn() {
        return isKept() ? "; ./steadwork demo --db %s finishes what is left".formatted(database) : "";
    }

    /** Deletes what was temporary. */
    @Override
    public void close() {
        if (folder == null) {
            return;
        }
        try (var files = Files.list(folder)) {
            for (var file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
