package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steadwork.Finding;
import dev.steadwork.Finding.Level;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Proves("OPS-3")
class DoctorTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(GREET);
    }

    @Test
    void a_healthy_database_has_nothing_that_is_bad() {
        work(GREET, (ctx, name) -> name);
        steadwork.workflow(GREET).trigger("Ada").await(PATIENCE);

        var findings = steadwork.doctor();

        assertThat(findings).extracting(Finding::level).doesNotContain(Level.BAD, Level.UNKNOWN);
        assertThat(findings).extracting(Finding::check).contains("schema version", "clock", "connection pool");
        assertThat(findings)
                .extracting(Finding::check)
                .contains(database == TestDatabase.POSTGRES ? "dead rows" : "journal mode");
        assertThat(finding("schema version").level()).isEqualTo(Level.OK);
    }

    @Test
    void a_queue_that_does_not_move_is_told_with_the_reason() throws SQLException {
        steadwork.workflow(GREET).trigger("Ada");
        assertThat(finding("stuck queues").level()).isEqualTo(Level.OK);

        execute("UPDATE %s SET due_at = %s".formatted(table("run"), longAgo()));

        var stuck = finding("stuck queues");
        assertThat(stuck.level()).isEqualTo(Level.BAD);
        assertThat(stuck.seen()).contains("Queue greet", "1 runs are ready");
        assertThat(stuck.advice()).contains("No worker that is online takes workflow greet");
    }

    @Test
    void leases_that_nobody_took_back_are_told() throws SQLException {
        steadwork.workflow(GREET).trigger("Ada");

        execute("UPDATE %s SET status = 'RUNNING', due_at = %s".formatted(table("run"), longAgo()));

        var late = finding("late timers");
        assertThat(late.level()).isEqualTo(Level.BAD);
        assertThat(late.seen()).contains("Queue greet has 1 timers", "1 of them are leases");
    }

    @Test
    void a_check_that_cannot_be_made_does_not_stop_the_others() throws SQLException {
        execute("ALTER TABLE %s RENAME TO gone".formatted(table("definition")));

        var findings = steadwork.doctor();

        assertThat(finding("stuck queues").level()).isEqualTo(Level.UNKNOWN);
        assertThat(findings).extracting(Finding::level).contains(Level.OK);
        assertThat(findings)
                .extracting(Finding::check)
                .contains(database == TestDatabase.POSTGRES ? "index size" : "integrity");
    }

    @Test
    void a_table_without_autovacuum_and_its_dead_rows_are_told() throws SQLException {
        assumeTrue(database == TestDatabase.POSTGRES);
        execute("ALTER TABLE steadwork.definition SET (autovacuum_enabled = off)");
        execute("""
                INSERT INTO steadwork.definition (namespace, type, queue, key_policy, registered_at)
                SELECT 'n', CAST(n AS text), 'q', 'FOREVER', now() FROM generate_series(1, 15000) AS n
                """);
        execute("UPDATE steadwork.definition SET queue = 'r'");

        assertThat(finding("autovacuum").seen()).isEqualTo("autovacuum is off for definition.");
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(finding("dead rows").level()).isNotEqualTo(Level.OK);
            assertThat(finding("dead rows").seen()).contains("definition has 15001 dead rows");
            assertThat(finding("statistics").seen()).contains("definition");
        });
    }

    @Test
    void a_user_with_few_rights_is_told_what_it_could_not_see() throws SQLException {
        assumeTrue(database == TestDatabase.POSTGRES);
        execute("CREATE ROLE doctor_poor LOGIN PASSWORD 'poor'");
        try {
            execute("GRANT USAGE ON SCHEMA steadwork TO doctor_poor");
            execute("GRANT SELECT ON ALL TABLES IN SCHEMA steadwork TO doctor_poor");
            execute("REVOKE SELECT ON steadwork.run FROM doctor_poor");
            try (var poor = Steadwork.builder()
                    .url(url.replaceFirst("user=[^&]*", "user=doctor_poor"))
                    .user("doctor_poor")
                    .password("poor")
                    .migrate(false)
                    .listen(false)
                    .open()) {
                var findings = poor.doctor();

                assertThat(of(findings, "oldest transaction").seen()).contains("Only sessions of this user were seen");
                assertThat(of(findings, "late timers").level()).isEqualTo(Level.UNKNOWN);
                assertThat(of(findings, "index size").level()).isEqualTo(Level.OK);
            }
        } finally {
            execute("DROP OWNED BY doctor_poor");
            execute("DROP ROLE doctor_poor");
        }
    }

    @Test
    void an_open_transaction_is_seen() throws SQLException {
        assumeTrue(database == TestDatabase.POSTGRES);
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL application_name = 'forgetful'");

            assertThat(finding("oldest transaction").seen()).contains("forgetful");
        }
    }

    @Test
    void a_database_in_memory_is_warned_of() {
        assumeTrue(database == TestDatabase.SQLITE);
        try (var memory = Steadwork.open("jdbc:sqlite::memory:")) {
            var findings = memory.doctor();

            assertThat(of(findings, "journal mode").level()).isEqualTo(Level.WARN);
            assertThat(findings).extracting(Finding::level).doesNotContain(Level.BAD);
        }
    }

    private Finding finding(String check) {
        return of(steadwork.doctor(), check);
    }

    private static Finding of(List<Finding> findings, String check) {
        return findings.stream()
                .filter(finding -> finding.check().equals(check))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + check + " in " + findings));
    }

    private String table(String name) {
        return (database == TestDatabase.POSTGRES ? "steadwork." : "steadwork_") + name;
    }

    private String longAgo() {
        return database == TestDatabase.POSTGRES
                ? "now() - interval '10 minutes'"
                : "CAST(unixepoch('subsec') * 1000000 AS INTEGER) - 600000000";
    }

    private void execute(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
