package dev.steadwork.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The databases every promise is tested on. */
public enum TestDatabase {
    SQLITE {
        @Override
        public String newUrl() {
            return "jdbc:sqlite:" + newDirectory().resolve("steadwork.db");
        }
    },
    POSTGRES {
        @Override
        public String newUrl() {
            return PostgresServer.newDatabase();
        }
    };

    /** The JDBC address of a fresh, empty database. */
    public abstract String newUrl();

    private static Path newDirectory() {
        try {
            return Files.createTempDirectory("steadwork-test-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
