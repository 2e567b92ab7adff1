package dev.steadwork.behaviour;

import static dev.steadwork.testing.TestDatabase.POSTGRES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** With a poll every few minutes, whatever happens within {@code PATIENCE} was not found by polling. */
class WakeUpTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final Workflow<String, String> NAP = Workflow.define("nap", String.class, String.class);
    private static final Duration RARELY = Duration.ofMinutes(5);

    @Test
    @Proves({"CLAIM-7", "V7"})
    void an_idle_worker_is_woken_by_a_trigger_in_its_own_process() {
        var engine = idleWorker();

        for (int i = 0; i < 10; i++) {
            assertThat(greet(engine).await(PATIENCE)).isEqualTo("Hello Ada");
        }
    }

    @Test
    @Proves({"CLAIM-7", "V7"})
    void an_idle_worker_is_woken_by_a_batch() {
        var engine = idleWorker();

        var runs = engine.workflow(GREET).triggerAll(Collections.nCopies(20, "Ada"));

        assertThat(runs).extracting(run -> run.await(PATIENCE)).containsOnly("Hello Ada");
    }

    @Test
    @Proves({"CLAIM-7", "V7", "RESULT-1"})
    void an_idle_worker_and_a_waiting_caller_are_woken_by_another_process() {
        idleWorker();
        var caller = rarelyPolling();

        for (int i = 0; i < 10; i++) {
            assertThat(greet(caller).await(PATIENCE)).isEqualTo("Hello Ada");
        }
    }

    @Test
    @Proves({"CLAIM-7", "TRIG-7"})
    void an_idle_worker_is_woken_by_the_commit_of_a_callers_transaction() throws SQLException {
        var engine = idleWorker();

        try (var connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            var run = steadwork.workflow(GREET).in(connection).trigger("Ada");
            connection.commit();

            assertThat(engine.run(run.id(), GREET).await(PATIENCE)).isEqualTo("Hello Ada");
        }
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_is_woken_when_a_delayed_run_is_due() {
        var engine = idleWorker();

        var run = engine.workflow(GREET).delay(Duration.ofMillis(300)).trigger("Ada");

        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_is_woken_when_a_run_delayed_by_another_process_is_due() {
        idleWorker();
        var caller = rarelyPolling();

        var run = caller.workflow(GREET).delay(Duration.ofMillis(300)).trigger("Ada");

        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("CLAIM-7")
    void of_two_timers_set_in_any_order_each_wakes_the_worker_in_time() {
        var engine = idleWorker();

        var later = engine.workflow(GREET).delay(Duration.ofMillis(900)).trigger("Ada");
        var sooner = engine.workflow(GREET).delay(Duration.ofMillis(300)).trigger("Ada");

        sooner.await(PATIENCE);
        later.await(PATIENCE);
        assertThat(sooner.info().startedAt()).isBefore(later.info().startedAt());
    }

    @Test
    @Proves({"CLAIM-7", "SLEEP-2"})
    void a_run_that_sleeps_wakes_when_its_timer_is_due() {
        var engine = rarelyPolling();
        engine.worker()
                .handle(NAP, (ctx, input) -> {
                    ctx.sleep("first", Duration.ofMillis(200));
                    ctx.sleep("second", Duration.ofMillis(200));
                    return "rested";
                })
                .start();

        assertThat(engine.workflow(NAP).trigger("x").await(PATIENCE)).isEqualTo("rested");
    }

    @Test
    @Proves({"CLAIM-7", "EVENT-2"})
    void an_idle_worker_is_woken_when_a_run_is_resumed() {
        var engine = idleWorker();
        var run = engine.workflow(GREET).delay(Duration.ofMillis(500)).trigger("Ada");
        run.pause();

        run.resume();

        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("CLAIM-7")
    void a_slot_that_becomes_free_is_filled_at_once() {
        var engine = rarelyPolling();
        engine.worker()
                .concurrency(1)
                .handle(GREET, (ctx, name) -> "Hello " + name)
                .start();

        var runs = engine.workflow(GREET).triggerAll(Collections.nCopies(20, "Ada"));

        assertThat(runs).extracting(run -> run.await(PATIENCE)).containsOnly("Hello Ada");
    }

    @Test
    @Proves("CLAIM-7")
    void a_worker_that_starts_finds_what_is_waiting() {
        var engine = rarelyPolling();
        engine.register(GREET);
        var ready = greet(engine);
        var soon = engine.workflow(GREET).delay(Duration.ofMillis(300)).trigger("Ada");

        engine.worker().handle(GREET, (ctx, name) -> "Hello " + name).start();

        assertThat(ready.await(PATIENCE)).isEqualTo("Hello Ada");
        assertThat(soon.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves({"CLAIM-7", "CLAIM-8"})
    void without_notifications_another_process_is_heard_within_a_poll() {
        var deaf = open(settings -> settings.listen(false).pollInterval(Duration.ofMillis(200)));
        deaf.worker().handle(GREET, (ctx, name) -> "Hello " + name).start();
        var caller = open(settings -> settings.listen(false).pollInterval(Duration.ofMillis(200)));

        for (int i = 0; i < 5; i++) {
            assertThat(greet(caller).await(PATIENCE)).isEqualTo("Hello Ada");
        }
        var delayed = caller.workflow(GREET).delay(Duration.ofMillis(300)).trigger("Ada");
        assertThat(delayed.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("CLAIM-8")
    void an_engine_told_not_to_listen_does_not() throws SQLException {
        assumeThat(database).isEqualTo(POSTGRES);
        steadwork.close();
        var deaf = open(settings -> settings.listen(false));
        deaf.worker().handle(GREET, (ctx, name) -> "Hello " + name).start();
        greet(deaf).await(PATIENCE);

        assertThat(sessionsThat("LISTEN%")).isZero();
        open(settings -> settings);
        await().atMost(PATIENCE).until(() -> sessionsThat("LISTEN%") > 0);
    }

    private int sessionsThat(String lastDid) throws SQLException {
        var sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE ?";
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.prepareStatement(sql)) {
            statement.setString(1, lastDid);
            try (var rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    /** An engine whose worker has done all there is to do and waits. */
    private Steadwork idleWorker() {
        var engine = rarelyPolling();
        engine.worker().handle(GREET, (ctx, name) -> "Hello " + name).start();
        greet(engine).await(PATIENCE);
        return engine;
    }

    private Steadwork rarelyPolling() {
        return open(settings -> settings.pollInterval(RARELY));
    }

    private static RunHandle<String> greet(Steadwork engine) {
        return engine.workflow(GREET).trigger("Ada");
    }
}
