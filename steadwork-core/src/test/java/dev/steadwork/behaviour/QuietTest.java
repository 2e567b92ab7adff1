package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.RunInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.Worker;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import dev.steadwork.claim.RunningWorker;
import dev.steadwork.codec.JsonCodec;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.Committer;
import dev.steadwork.store.jdbc.CountedSqlite;
import dev.steadwork.testing.CountingDataSource;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What workers with default settings do while nothing happens, seen over a while. */
class QuietTest {
    private static final Duration WHILE = Duration.ofSeconds(30);
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final Workflow<String, String> PART = Workflow.define("part", String.class, String.class);
    private static Statements statements;
    private static RunInfo held;

    private record Statements(long onPostgres, long onSqlite, long onSqliteDataSource) {
        Statements since(Statements before) {
            return new Statements(
                    onPostgres - before.onPostgres,
                    onSqlite - before.onSqlite,
                    onSqliteDataSource - before.onSqliteDataSource);
        }
    }

    @BeforeAll
    static void watchForAWhile() {
        var report = new Report();
        var script = new Script(report::add);
        try (var postgres = new IdleOnDataSource(TestDatabase.POSTGRES);
                var sqlite = new IdleOnUrl();
                var sqliteDataSource = new IdleOnDataSource(TestDatabase.SQLITE);
                var busy = Steadwork.open(TestDatabase.SQLITE.newUrl())) {
            busy.worker().handle(SCRIPT, script).start();
            var run = busy.workflow(SCRIPT).trigger(List.of("hold ship"));
            report.awaitLine("started ship " + run.id());
            pass(Duration.ofSeconds(1)); // what the workers wrote when they started is over
            var before = new Statements(postgres.statements(), sqlite.statements(), sqliteDataSource.statements());

            pass(WHILE);

            statements = new Statements(postgres.statements(), sqlite.statements(), sqliteDataSource.statements())
                    .since(before);
            held = run.info();
            script.go();
        }
    }

    private static void pass(Duration time) {
        await().pollDelay(time).atMost(time.multipliedBy(3)).until(() -> true);
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_asks_postgres_less_than_once_a_second() {
        assertThat(statements.onPostgres).isBetween(1L, WHILE.toSeconds() - 1);
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_asks_sqlite_less_than_once_a_second() {
        assertThat(statements.onSqlite).isBetween(1L, WHILE.toSeconds() - 1);
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_asks_sqlite_less_than_once_a_second_through_a_data_source() {
        assertThat(statements.onSqliteDataSource).isBetween(1L, WHILE.toSeconds() - 1);
    }

    @Test
    @Proves("LEASE-1")
    void a_lease_is_prolonged_every_10_seconds() {
        var prolonged = Duration.between(held.startedAt(), held.times().due()).minusSeconds(30);

        assertThat(prolonged).isBetween(Duration.ofSeconds(8), WHILE.plusSeconds(2));
    }

    /** A worker for two workflows on the application's own pool. */
    private static final class IdleOnDataSource implements AutoCloseable {
        private final HikariDataSource pool = new HikariDataSource();
        private final CountingDataSource counting = new CountingDataSource(pool);
        private final Steadwork engine;

        IdleOnDataSource(TestDatabase database) {
            pool.setJdbcUrl(database.newUrl());
            engine = Steadwork.builder()
                    .dataSource(counting.counted())
                    .outbox(event -> {})
                    .open();
            engine.worker()
                    .handle(GREET, (ctx, name) -> name)
                    .handle(PART, (ctx, name) -> name)
                    .start();
        }

        long statements() {
            return counting.statements();
        }

        @Override
        public void close() {
            engine.close();
            pool.close();
        }
    }

    /** The same on a URL, put together by hand so that the store's own connections can be counted. */
    private static final class IdleOnUrl implements AutoCloseable {
        private final CountedSqlite counted = new CountedSqlite(TestDatabase.SQLITE.newUrl());
        private final Committer committer = new Committer(counted.store());
        private final Worker worker;

        IdleOnUrl() {
            var engine = new RunningWorker.Surroundings(
                    counted.store(),
                    committer,
                    new Payloads(new JsonCodec(), Payloads.DEFAULT_WARN_BYTES, Payloads.DEFAULT_MAX_BYTES),
                    "default",
                    new Workflow.Lease(Duration.ofSeconds(30), Duration.ofSeconds(10)),
                    Duration.ofSeconds(5),
                    5,
                    run -> end -> {});
            var handlers = Map.<String, WorkerBuilder.Handling<?, ?>>of(
                    "greet", new WorkerBuilder.Handling<>(GREET, (ctx, name) -> name),
                    "part", new WorkerBuilder.Handling<>(PART, (ctx, name) -> name));
            worker = new RunningWorker(
                            engine,
                            new WorkerBuilder.Spec(
                                    "idle",
                                    handlers,
                                    Set.of(),
                                    Set.of(),
                                    Set.of(),
                                    100,
                                    Map.of(),
                                    Duration.ofSeconds(30),
                                    null,
                                    Map.of()))
                    .start();
        }

        long statements() {
            return counted.statements();
        }

        @Override
        public void close() {
            worker.close();
            committer.close();
            counted.close();
        }
    }
}
