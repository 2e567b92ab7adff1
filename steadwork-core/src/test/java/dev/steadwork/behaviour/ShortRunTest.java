package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TcpProxy;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A worker whose runs have been short claims and ends them at once. Its slots are few, so that a few runs show it. */
class ShortRunTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SLOTS = 4;
    private static final Workflow<String, String> ERRAND =
            Workflow.define("errand", String.class, String.class).check(TriggerCheck.ACCEPT);

    private final String url = PostgresServer.newDatabase();
    private final TcpProxy network = new TcpProxy(url);
    private final Steadwork direct = engine(url, Duration.ofMillis(500));
    /** A look that no hint asks for claims in the usual way: there are none. */
    private final Steadwork remote = engine(network.url() + "&socketTimeout=2", Duration.ofSeconds(20));

    private final AtomicInteger executed = new AtomicInteger();

    ShortRunTest() throws SQLException {
        sql("CREATE TABLE change (n SERIAL, run_id UUID, status TEXT, epoch BIGINT)");
        sql("""
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO change (run_id, status, epoch) VALUES (NEW.run_id, NEW.status, NEW.lease_epoch);
                    RETURN NEW;
                END $$
                """);
        sql("""
                CREATE TRIGGER note
                 AFTER UPDATE ON steadwork.run
                   FOR EACH ROW
                  WHEN (NEW.status <> OLD.status)
               EXECUTE FUNCTION note()
                """);
    }

    @AfterEach
    void closeAll() {
        network.heal();
        remote.close();
        direct.close();
        network.close();
        PostgresServer.dropDatabase(url);
    }

    @Test
    @Proves({"CLAIM-1", "LEASE-3"})
    void a_short_run_is_claimed_and_ended_by_one_change() throws SQLException {
        var run = workAfterShortRuns((ctx, name) -> name);

        assertThat(changesOf(run)).containsExactly("COMPLETED 1");
        assertThat(run.await(PATIENCE)).isEqualTo("warm");
        assertThat(run.info().startedAt()).isBeforeOrEqualTo(run.info().finishedAt());
        assertThat(run.info().attempt()).isEqualTo(1);
    }

    @Test
    void the_first_runs_of_a_worker_are_claimed_before_they_begin() throws SQLException {
        work((ctx, name) -> statusNow());

        var run = trigger("first");

        assertThat(run.await(PATIENCE)).isEqualTo("RUNNING");
        assertThat(changesOf(run)).containsExactly("RUNNING 1", "COMPLETED 1");
    }

    @Test
    @Proves({"LEASE-3", "LEASE-4", "STEP-1"})
    void a_step_is_executed_when_the_run_is_held_and_not_before() throws SQLException {
        workAfterShortRuns((ctx, name) -> ctx.step("look", String.class, step -> statusNow()));

        var run = trigger("stepwise");

        assertThat(run.await(PATIENCE)).isEqualTo("RUNNING");
        assertThat(changesOf(run)).containsExactly("RUNNING 1", "COMPLETED 1");
    }

    @Test
    @Proves("LEASE-4")
    void a_fencing_token_is_given_out_when_the_run_is_held_and_not_before() throws SQLException {
        workAfterShortRuns((ctx, name) -> ctx.fencingToken() + " " + statusNow());

        assertThat(trigger("fenced").await(PATIENCE)).isEqualTo("1 RUNNING");
    }

    @Test
    @Proves({"RUN-2", "LEASE-2"})
    void a_run_that_takes_longer_than_expected_is_leased_meanwhile() throws SQLException {
        var go = new CountDownLatch(1);
        workAfterShortRuns((ctx, name) -> {
            go.await();
            return "late";
        });

        var run = trigger("slow");
        await().atMost(PATIENCE).until(() -> run.status() == RunStatus.RUNNING);
        go.countDown();

        assertThat(run.await(PATIENCE)).isEqualTo("late");
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    void a_run_that_fails_is_tried_again_as_ever() throws SQLException {
        workAfterShortRuns((ctx, name) -> {
            if (executed.incrementAndGet() == 1) {
                throw new IllegalStateException("not yet");
            }
            return "at last";
        });

        var run = trigger("moody");

        assertThat(run.await(PATIENCE)).isEqualTo("at last");
        assertThat(run.info().attempt()).isEqualTo(2);
    }

    @Test
    void many_short_runs_are_each_executed_once() throws SQLException {
        workAfterShortRuns((ctx, name) -> {
            executed.incrementAndGet();
            return name;
        });
        var names = new ArrayList<String>();
        for (int i = 0; i < 500; i++) {
            names.add("run " + i);
        }

        var runs = direct.workflow(ERRAND).triggerAll(names);

        for (int i = 0; i < names.size(); i++) {
            assertThat(runs.get(i).await(PATIENCE)).isEqualTo(names.get(i));
        }
        assertThat(executed).hasValue(500);
    }

    @Test
    @Proves("STEP-5")
    void the_end_of_a_short_run_is_recorded_when_the_network_is_back() throws SQLException {
        workAfterShortRuns((ctx, name) -> {
            network.cut();
            executed.incrementAndGet();
            return "delivered";
        });

        var run = trigger("cut off");
        await().atMost(PATIENCE).until(() -> executed.get() == 1);
        network.heal();

        assertThat(run.await(PATIENCE)).isEqualTo("delivered");
        assertThat(executed).hasValue(1);
        assertThat(changesOf(run)).endsWith("COMPLETED 1");
    }

    @Test
    @Proves({"STEP-5", "STEP-4"})
    void a_short_run_whose_end_was_stored_but_not_answered_ends_once() throws SQLException {
        workAfterShortRuns((ctx, name) -> {
            executed.incrementAndGet();
            network.cutAfter("COMMIT");
            return "delivered";
        });

        var run = trigger("unanswered");
        await().atMost(PATIENCE).until(() -> run.status() == RunStatus.COMPLETED);
        network.heal();

        assertThat(run.await(PATIENCE)).isEqualTo("delivered");
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
        assertThat(changesOf(run)).endsWith("COMPLETED 1");
        assertThat(run.info().lease().lost()).isZero();
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves({"V3", "LEASE-3", "CLAIM-5"})
    void another_worker_takes_a_short_run_over_and_the_late_end_is_refused() throws SQLException {
        workAfterShortRuns((ctx, name) -> {
            network.cut();
            executed.incrementAndGet();
            return "late";
        });
        var run = trigger("taken over");
        await().atMost(PATIENCE).until(() -> executed.get() == 1);
        var go = new CountDownLatch(1);
        direct.worker()
                .handle(
                        ERRAND,
                        (ctx, name) -> ctx.step("slowly", String.class, step -> {
                            executed.incrementAndGet();
                            go.await();
                            return "in time";
                        }))
                .start();
        await().atMost(PATIENCE).until(() -> executed.get() == 2);

        network.heal();
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
        assertThat(run.status()).isEqualTo(RunStatus.RUNNING);
        go.countDown();

        assertThat(run.await(PATIENCE)).isEqualTo("in time");
        assertThat(executed).hasValue(2);
    }

    @Test
    @Proves("LEASE-7")
    void a_worker_that_is_closed_ends_what_it_has_begun() throws SQLException {
        var go = new CountDownLatch(1);
        workAfterShortRuns((ctx, name) -> {
            executed.incrementAndGet();
            go.await();
            return "done";
        });
        var run = trigger("begun");
        await().atMost(PATIENCE).until(() -> executed.get() == 1);
        var closing = new Thread(worker::close);
        closing.start();
        await().atMost(PATIENCE).until(() -> closing.getState() == Thread.State.TIMED_WAITING);
        go.countDown();

        assertThat(run.await(PATIENCE)).isEqualTo("done");
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("LEASE-7")
    void a_worker_can_be_closed_while_the_database_is_away() throws Exception {
        workAfterShortRuns((ctx, name) -> {
            network.cut();
            executed.incrementAndGet();
            return "unheard";
        });
        direct.workflow(ERRAND).triggerAll(List.of("a", "b", "c", "d", "e", "f", "g", "h"));
        await().atMost(PATIENCE).until(() -> executed.get() > 0);
        var closing = new Thread(worker::close);
        closing.start();

        closing.join(
                PATIENCE.multipliedBy(4).toMillis()); // several calls, each of which waits ten seconds for a connection

        assertThat(closing.isAlive()).isFalse();
    }

    @Test
    @Proves("STEP-5")
    void an_end_that_cannot_be_stored_does_not_keep_others_from_being_stored() throws SQLException {
        sql("ALTER TABLE steadwork.run ADD CONSTRAINT no_poison CHECK (output IS DISTINCT FROM '\\x22706f69736f6e22')");
        workAfterShortRuns((ctx, name) -> name);

        var runs = direct.workflow(ERRAND).triggerAll(List.of("a", "poison", "b"));

        assertThat(runs.get(0).await(PATIENCE)).isEqualTo("a");
        assertThat(runs.get(2).await(PATIENCE)).isEqualTo("b");
        assertThat(runs.get(1).status().isTerminal()).isFalse();
    }

    private Worker worker;

    private void work(WorkflowHandler<String, String> handler) {
        worker = remote.worker()
                .handle(ERRAND, handler)
                .concurrency(SLOTS)
                .drainTimeout(Duration.ofSeconds(3))
                .start();
    }

    /** The handler comes into play when short runs have shown what to expect; returns the last of them. */
    private RunHandle<String> workAfterShortRuns(WorkflowHandler<String, String> handler) throws SQLException {
        work((ctx, name) -> name.equals("warm") ? name : handler.run(ctx, name));
        RunHandle<String> last;
        do {
            last = trigger("warm");
            last.await(PATIENCE);
        } while (!changesOf(last).equals(List.of("COMPLETED 1")));
        return last;
    }

    private RunHandle<String> trigger(String name) {
        return direct.workflow(ERRAND).trigger(name);
    }

    private String statusNow() throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var rows = connection.createStatement().executeQuery("""
                        SELECT status
                          FROM steadwork.run
                         ORDER BY created_at DESC
                         LIMIT 1
                        """)) {
            rows.next();
            return rows.getString("status");
        }
    }

    private List<String> changesOf(RunHandle<?> run) throws SQLException {
        var changes = new ArrayList<String>();
        try (var connection = DriverManager.getConnection(url);
                var query = connection.prepareStatement("""
                        SELECT status || ' ' || epoch AS change
                          FROM change
                         WHERE run_id = ?::uuid
                         ORDER BY n
                        """)) {
            query.setString(1, run.id().toString());
            var rows = query.executeQuery();
            while (rows.next()) {
                changes.add(rows.getString("change"));
            }
        }
        return changes;
    }

    private void sql(String statement) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var any = connection.createStatement()) {
            any.execute(statement);
        }
    }

    private static Steadwork engine(String url, Duration pollInterval) {
        return Steadwork.builder()
                .url(url)
                .lease(Duration.ofMillis(1500))
                .heartbeat(Duration.ofMillis(400))
                .pollInterval(pollInterval)
                .poolSize(6)
                .open();
    }
}
