package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.QueueStats;
import dev.steadwork.store.WorkerRegistration;
import dev.steadwork.testing.Proves;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What counting costs where there is much. */
@Proves("OPS-1")
class QueueCountsTest extends PostgresFixture {

    @Test
    void runs_that_have_ended_are_not_read() throws SQLException {
        store.close();
        try (var connection = connect()) {
            store = openStore(keeping(connection));
            insert(connection, "checkout", "COMPLETED", 100_000);
            insert(connection, "checkout", "PENDING", 50);
            insert(connection, "mail", "SLEEPING", 50);
            execute(connection, "ANALYZE steadwork.run");
            store.queueStats(NAMESPACE);
            long before = pagesRead(connection);

            var stats = store.queueStats(NAMESPACE);

            assertThat(stats).extracting(QueueStats::queue).containsExactly("checkout", "mail");
            assertThat(stats.get(0).ready()).isEqualTo(50);
            assertThat(pagesRead(connection) - before)
                    .as("pages of run and its indexes, of which there are thousands")
                    .isLessThan(400);
        }
    }

    @Test
    void what_comes_before_a_run_is_looked_for_in_its_queue_alone() throws SQLException {
        store.close();
        try (var connection = connect()) {
            store = openStore(keeping(connection));
            insert(connection, "checkout", "COMPLETED", 100_000);
            insert(connection, "mail", "PENDING", 10_000);
            execute(connection, "ANALYZE steadwork.run");
            store.registerWorker(new WorkerRegistration(
                    NAMESPACE,
                    "w",
                    "w",
                    "host",
                    1,
                    List.of(TYPE),
                    List.of(TYPE),
                    List.of(),
                    List.of(),
                    1,
                    null,
                    Map.of()));
            var run = trigger(50).get(20);
            store.waiting(run);
            long before = pagesRead(connection);

            var waiting = store.waiting(run);

            assertThat(waiting.sentence()).contains("20 others in queue " + TYPE + " come first");
            assertThat(pagesRead(connection) - before)
                    .as("pages of run and its indexes, of which there are thousands")
                    .isLessThan(100);
        }
    }

    @Test
    void a_long_backlog_is_counted_up_to_a_limit() throws SQLException {
        try (var connection = connect()) {
            insert(connection, "checkout", "PENDING", 12_000);
            insert(connection, "mail", "PENDING", 12);

            var stats = store.queueStats(NAMESPACE);

            assertThat(stats.get(0).ready()).isEqualTo(QueueStats.COUNTED);
            assertThat(stats.get(0).atLeast()).isTrue();
            assertThat(stats.get(1).ready()).isEqualTo(12);
            assertThat(stats.get(1).atLeast()).isFalse();
        }
    }

    private static void insert(Connection connection, String queue, String status, int runs) throws SQLException {
        execute(connection, """
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at)
                SELECT 0, gen_random_uuid(), 'default', 'checkout', '%s', '%s', 0, now() + interval '1 hour', now(), now()
                  FROM generate_series(1, %d) AS n
                """.formatted(queue, status, runs));
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long pagesRead(Connection connection) throws SQLException {
        execute(connection, "SELECT pg_stat_force_next_flush()");
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("""
                        SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
                          FROM pg_statio_user_tables
                         WHERE relname = 'run'
                        """)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
