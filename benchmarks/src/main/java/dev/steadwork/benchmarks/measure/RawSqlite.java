package dev.steadwork.benchmarks.measure;

import java.sql.Connection;
import java.sql.SQLException;
import org.sqlite.SQLiteConfig;

/** Connections to SQLite with the settings that Steadwork has: a write-ahead log that is forced at every commit. */
final class RawSqlite {
    private RawSqlite() {}

    static Connection connect() throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setBusyTimeout(30_000);
        return config.createConnection(Db.URL);
    }

    static void execute(String... statements) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            for (var sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
