package dev.steadwork.examples;

import java.io.IOException;
import java.nio.file.Files;

/** Where an example keeps its runs: the JDBC URL it was given, or a SQLite file that goes away with the JVM. */
final class ExampleDatabase {
    private ExampleDatabase() {}

    static String url(String... args) throws IOException {
        if (args.length > 0) {
            return args[0];
        }
        var folder = Files.createTempDirectory("steadwork-example-");
        folder.toFile().deleteOnExit();
        for (var name : new String[] {"app.db", "app.db-wal", "app.db-shm"}) {
            folder.resolve(name).toFile().deleteOnExit();
        }
        return "jdbc:sqlite:" + folder.resolve("app.db");
    }
}
