package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.TcpProxy;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The clock of the host differs from that of the database by an hour, and nobody notices. */
class DatabaseClockTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofMillis(1200);

    private final String url = PostgresServer.newDatabase();

    @AfterEach
    void dropDatabase() {
        PostgresServer.dropDatabase(url);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 hour", "-1 hour"})
    @Proves({"LEASE-5", "SLEEP-1", "TRIG-8"})
    void sleeps_and_delays_last_as_long_as_they_should(String skew) throws SQLException {
        skewDatabaseClock(skew);
        try (var steadwork = engine(url)) {
            steadwork.worker().handle(SCRIPT, new Script(line -> {})).start();
            var from = databaseNow();

            var run = steadwork
                    .workflow(SCRIPT)
                    .delay(Duration.ofMillis(300))
                    .trigger(List.of("step a", "sleep nap 300", "step b"));
            run.await(PATIENCE);

            assertThat(run.info().createdAt()).isBetween(from, from.plus(PATIENCE));
            assertThat(run.info().finishedAt()).isBetween(from.plusMillis(600), from.plus(PATIENCE));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 hour", "-1 hour"})
    @Proves("LEASE-5")
    void a_claim_ends_by_the_clock_of_the_database(String skew) throws SQLException {
        skewDatabaseClock(skew);
        var report = new Report();
        var script = new Script(report::add);
        try (var steadwork = Steadwork.open(url)) {
            steadwork.worker().handle(SCRIPT, script).start();
            var from = databaseNow();

            var run = steadwork.workflow(SCRIPT).trigger(List.of("hold ship"));
            report.awaitLine("started ship " + run.id());

            assertThat(run.info().times().due())
                    .isBetween(from.plusSeconds(30), databaseNow().plusSeconds(30));
            script.go();
        }
    }

    /** The claim began before the run was there, and waited: Postgres fixes now() before it looks at the tables. */
    @Test
    @Proves({"LEASE-5", "RUN-1"})
    void no_run_starts_before_it_was_created() throws SQLException {
        try (var steadwork = engine(url);
                var client = engine(url);
                var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            steadwork.worker().handle(SCRIPT, new Script(line -> {})).start();
            connection.setAutoCommit(false);
            statement.execute("LOCK TABLE steadwork.step IN ACCESS EXCLUSIVE MODE");
            await().atMost(PATIENCE).until(() -> waitsForALock(statement));

            var run = client.workflow(SCRIPT).trigger(List.of());
            connection.commit();
            run.await(PATIENCE);

            assertThat(run.info().startedAt()).isAfterOrEqualTo(run.info().createdAt());
        }
    }

    private static boolean waitsForALock(Statement statement) throws SQLException {
        try (var rows = statement.executeQuery("SELECT FROM pg_locks WHERE NOT granted")) {
            return rows.next();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 hour", "-1 hour"})
    @Proves({"LEASE-5", "LEASE-2", "LEASE-6"})
    void leases_hold_while_their_worker_is_alive_and_end_when_it_is_not(String skew) throws SQLException {
        skewDatabaseClock(skew);
        var report = new Report();
        var script = new Script(report::add);
        try (var network = new TcpProxy(url);
                var cutOff = engine(network.url());
                var steadwork = engine(url)) {
            cutOff.worker()
                    .handle(SCRIPT, new Script(report::add))
                    .drainTimeout(Duration.ZERO)
                    .start();
            var run = steadwork.workflow(SCRIPT).trigger(List.of("hold ship"));
            report.awaitLine("started ship " + run.id());
            steadwork.worker().handle(SCRIPT, script).start();
            var startedAt = run.info().startedAt();
            await().atMost(PATIENCE)
                    .until(() -> run.info().times().due().isAfter(startedAt.plus(LEASE.multipliedBy(3))));
            assertThat(run.info().lease().epoch()).isEqualTo(1);

            network.cut();
            script.go();
            run.await(PATIENCE);

            assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
            assertThat(run.info().lease().lost()).isEqualTo(1);
            network.heal();
        }
    }

    private static Steadwork engine(String url) {
        return Steadwork.builder()
                .url(url)
                .lease(LEASE)
                .heartbeat(Duration.ofMillis(300))
                .pollInterval(Duration.ofMillis(300))
                .poolSize(5)
                .open();
    }

    /** Functions found before the ones of Postgres itself make its clock go wrong, for this database. */
    private void skewDatabaseClock(String skew) throws SQLException {
        var sql = """
                CREATE SCHEMA skewed;
                CREATE FUNCTION skewed.now() RETURNS timestamptz STABLE
                    RETURN pg_catalog.now() + INTERVAL '%1$s';
                CREATE FUNCTION skewed.transaction_timestamp() RETURNS timestamptz STABLE
                    RETURN pg_catalog.transaction_timestamp() + INTERVAL '%1$s';
                CREATE FUNCTION skewed.statement_timestamp() RETURNS timestamptz STABLE
                    RETURN pg_catalog.statement_timestamp() + INTERVAL '%1$s';
                CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz VOLATILE
                    RETURN pg_catalog.clock_timestamp() + INTERVAL '%1$s';
                DO $$
                BEGIN
                    EXECUTE format('ALTER DATABASE %%I SET search_path = skewed, pg_catalog, public', current_database());
                END
                $$;
                """;
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute(sql.formatted(skew));
        }
    }

    private Instant databaseNow() throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT now()")) {
            rows.next();
            return rows.getObject(1, OffsetDateTime.class).toInstant();
        }
    }
}
