package dev.steadwork.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.sqlite.SQLiteErrorCode;

/** The databases every promise is tested on. */
public enum TestDatabase {
    SQLITE {
        @Override
        public String newUrl() {
            return "jdbc:sqlite:" + newDirectory().resolve("steadwork.db");
        }

        @Override
        public boolean isBeingWritten(String url) {
            try (var connection = DriverManager.getConnection(url + "?busy_timeout=0&transaction_mode=IMMEDIATE");
                    var statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.executeQuery("SELECT 1").close();
                return false;
            } catch (SQLException e) {
                if (e.getErrorCode() == SQLiteErrorCode.SQLITE_BUSY.code) {
                    return true;
                }
                throw new IllegalStateException(e);
            }
        }
    },
    POSTGRES {
        @Override
        public String newUrl() {
            return PostgresServer.newDatabase();
        }

        @Override
        public boolean isBeingWritten(String url) {
            var others = """
                    SELECT count(*) > 0
                      FROM pg_stat_activity
                     WHERE datname = current_database()
                       AND pid <> pg_backend_pid()
                       AND state <> 'idle'
                    """;
            try (var connection = DriverManager.getConnection(url);
                    var rows = connection.createStatement().executeQuery(others)) {
                return rows.next() && rows.getBoolean(1);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    };

    /** The JDBC address of a fresh, empty database. */
    public abstract String newUrl();

    /** Whether somebody has a transaction open there: on SQLite one that writes. */
    public abstract boolean isBeingWritten(String url);

    private static Path newDirectory() {
        try {
            return Files.createTempDirectory("steadwork-test-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
