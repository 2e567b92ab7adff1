package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Looking for due schedules reads the index of those that will fire, however many are disabled. */
class SchedulePlansTest {
    private static final int DISABLED = 20_000;

    @Test
    void postgres_reads_the_head_of_the_due_index() throws SQLException {
        var url = migrated(TestDatabase.POSTGRES);
        try (var connection = DriverManager.getConnection(url)) {
            for (var when : List.of("empty", "full", "analysed")) {
                if (when.equals("full")) {
                    execute(connection, """
                            INSERT INTO steadwork.schedule
                                (shard, namespace, schedule_id, type, demand, priority, cron, zone, max_catchup, overlap,
                                 jitter, enabled, revision, created_at, updated_at)
                            SELECT 0, 'default', 's-' || n, 'report', 'ACCEPT', 0, '@daily', 'UTC', 100, 'ALLOW', 0, false, 1,
                                   now(), now()
                              FROM generate_series(1, %d) AS n
                            """.formatted(DISABLED));
                } else if (when.equals("analysed")) {
                    execute(connection, "ANALYZE");
                }
                for (var sql : statements(new PostgresDialect(), "now()")) {
                    assertThat(plan(connection, "EXPLAIN " + sql))
                            .as(when)
                            .contains("using schedule_due")
                            .doesNotContain("Sort");
                }
            }
        }
    }

    @Test
    void sqlite_reads_the_head_of_the_due_index() throws SQLException {
        var url = migrated(TestDatabase.SQLITE);
        try (var connection = DriverManager.getConnection(url)) {
            for (var sql : statements(new SqliteDialect(), "1")) {
                assertThat(plan(connection, "EXPLAIN QUERY PLAN " + sql))
                        .contains("schedule_due")
                        .doesNotContain("TEMP B-TREE");
            }
        }
    }

    private static List<String> statements(Dialect dialect, String now) {
        return List.of(
                filled(dialect, dialect.claimDueSchedules(), now),
                filled(dialect, dialect.selectScheduleOutlook(), now));
    }

    private static String filled(Dialect dialect, String sql, String now) {
        return dialect.withSchema(sql, "steadwork")
                .replace(":shard", "0")
                .replace(":namespace", "'default'")
                .replace(":now", now)
                .replace(":only", "NULL")
                .replace(":limit", "50");
    }

    private static String migrated(TestDatabase database) {
        var url = database.newUrl();
        try (var store = JdbcStores.open(Configs.of(url))) {
            store.migrate();
        }
        return url;
    }

    private static String plan(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            var lines = new ArrayList<String>();
            int column = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                lines.add(rows.getString(column));
            }
            return String.join("\n", lines);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
