package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.Finding;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The role of docs/postgres-role.sql: enough to trigger and execute runs, and no more. */
class LeastPrivilegeTest extends PostgresFixture {
    private static final Path SCRIPT = Path.of("..", "docs", "postgres-role.sql");
    private static final String ROLE = "steadwork_app";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    @BeforeEach
    void createRole() throws IOException, SQLException {
        execute(Files.readString(SCRIPT));
    }

    @AfterEach
    void dropRole() throws SQLException {
        store.close();
        execute("DROP OWNED BY " + ROLE);
        execute("DROP ROLE " + ROLE);
    }

    private void execute(String sql) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String urlOfRole() {
        return url.replace("user=postgres", "user=" + ROLE);
    }

    @Test
    void a_role_that_may_only_change_rows_triggers_and_executes_runs() {
        try (var steadwork = Steadwork.builder()
                .url(urlOfRole())
                .password("change-me")
                .migrate(false)
                .open()) {
            steadwork
                    .worker()
                    .handle(WORK, (ctx, input) -> {
                        ctx.sleep("a moment", Duration.ofMillis(10));
                        return ctx.step("greet", String.class, step -> "hello " + input);
                    })
                    .start();

            var run = steadwork.workflow(WORK).idempotencyKey("one").trigger("world");

            assertThat(run.await(PATIENCE)).isEqualTo("hello world");
            run.delete("seen");
            assertThat(steadwork.runs().count()).isZero();
        }
    }

    @Test
    @Proves("CLAIM-7")
    void where_a_role_may_not_notify_runs_are_created_all_the_same() throws SQLException {
        execute("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM public");
        try (var steadwork = Steadwork.builder()
                .url(urlOfRole())
                .password("change-me")
                .migrate(false)
                .open()) {
            steadwork.register(WORK);
            steadwork.workflow(WORK).trigger("one");
            steadwork.workflow(WORK).trigger("two");

            assertThat(steadwork.runs().count()).isEqualTo(2);
        }
    }

    @Test
    @Proves("OPS-3")
    void the_doctor_says_what_it_may_not_see_and_looks_at_the_rest() {
        try (var steadwork = Steadwork.builder()
                .url(urlOfRole())
                .password("change-me")
                .migrate(false)
                .open()) {
            var findings = steadwork.doctor();

            assertThat(findings)
                    .extracting(Finding::check)
                    .contains("schema version", "oldest transaction", "dead rows");
            assertThat(findings).noneMatch(finding -> finding.level() == Finding.Level.BAD);
        }
    }

    @Test
    void it_may_not_change_the_schema() throws SQLException {
        try (var connection = DriverManager.getConnection(urlOfRole());
                var statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("CREATE TABLE steadwork.mine (id INTEGER)"))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> statement.execute("DROP TABLE steadwork.run"))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> statement.execute("DELETE FROM steadwork.schema_version"))
                    .isInstanceOf(SQLException.class);
        }
    }
}
