package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.awaitEnd;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.awaitTwoHeartbeats;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidState;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunHandle;
import dev.steadwork.StepInfo;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PauseTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private final Gate gate = new Gate();
    private final AtomicInteger executed = new AtomicInteger();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"EVENT-2", "RUN-2", "CLAIM-2"})
    void a_paused_pending_run_is_not_claimed_until_it_is_resumed() {
        steadwork.register(ORDER);
        var run = trigger();
        run.pause();
        work(ORDER, (ctx, order) -> "done " + executed.incrementAndGet());

        trigger().await(PATIENCE);
        assertThat(run.status()).isEqualTo(PAUSED);
        assertThat(run.info().times().paused()).isNotNull();
        assertThat(executed).hasValue(1);

        run.resume();
        assertThat(run.await(PATIENCE)).isEqualTo("done 2");
        assertThat(run.info().times().paused()).isNull();
    }

    @Test
    @Proves("EVENT-2")
    void resuming_wakes_a_worker_at_once() {
        var patient = open(settings -> settings.pollInterval(Duration.ofMinutes(5)));
        patient.worker().handle(ORDER, (ctx, order) -> order).start();
        var run = patient.workflow(ORDER).delay(Duration.ofHours(1)).trigger("o-1");
        run.pause();
        run.resume();
        assertThat(run.status()).isEqualTo(SLEEPING);

        var due = patient.workflow(ORDER).delay(Duration.ofMillis(500)).trigger("o-2");
        due.pause();
        await().atMost(PATIENCE)
                .until(() -> Instant.now().isAfter(due.info().times().due()));
        due.resume();

        assertThat(due.await(PATIENCE)).isEqualTo("o-2");
    }

    @Test
    @Proves({"EVENT-2", "RUN-2", "SLEEP-1"})
    void a_sleeping_run_that_is_resumed_before_its_time_sleeps_on() {
        sleepFor(Duration.ofSeconds(3));
        var run = trigger();
        awaitStatus(run, SLEEPING);
        var wakesAt = run.info().times().due();

        run.pause();
        assertThat(run.status()).isEqualTo(PAUSED);
        assertThat(run.info().times().due()).isEqualTo(wakesAt);
        run.resume();
        assertThat(run.status()).isEqualTo(SLEEPING);

        run.await(PATIENCE);
        assertThat(run.info().finishedAt()).isAfterOrEqualTo(wakesAt);
        assertThat(step(run, "nap").finishedAt()).isEqualTo(wakesAt);
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    void a_sleep_that_ends_during_a_pause_is_over_when_the_run_is_resumed() {
        sleepFor(Duration.ofMillis(700));
        var run = trigger();
        awaitStatus(run, SLEEPING);
        var wakesAt = run.info().times().due();
        run.pause();

        steadwork.workflow(ORDER).trigger("o-2").await(PATIENCE);
        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(wakesAt));
        assertThat(run.status()).isEqualTo(PAUSED);

        run.resume();
        run.await(PATIENCE);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("nap");
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    void a_running_run_stops_at_its_next_durable_call_and_goes_on_there() throws InterruptedException {
        var worker = work(ORDER, (ctx, order) -> {
            ctx.run("charge", () -> {
                executed.incrementAndGet();
                gate.pass();
            });
            return ctx.step("ship", String.class, step -> "shipped " + executed.incrementAndGet());
        });
        var run = trigger();
        gate.awaitReached();

        run.pause();
        assertThat(run.info().times().pauseRequested()).isNotNull();
        gate.open();

        awaitStatus(run, PAUSED);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("charge");
        assertThat(run.info().times().pauseRequested()).isNull();
        assertThat(run.info().lease().worker()).isNull();
        await().atMost(PATIENCE).until(() -> worker.active() == 0);

        run.resume();
        assertThat(run.await(PATIENCE)).isEqualTo("shipped 2");
        assertThat(run.info().attempt()).isEqualTo(1);
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves("EVENT-2")
    void a_pause_does_not_interrupt_a_step() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", gate::pass);
            return order;
        });
        var run = trigger();
        gate.awaitReached();
        run.pause();
        awaitTwoHeartbeats(run);
        gate.open();

        awaitStatus(run, PAUSED);

        assertThat(step(run, "charge").attempt()).isEqualTo(1);
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    void a_pause_that_is_withdrawn_before_it_took_effect_stops_nothing() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", gate::pass);
            ctx.run("ship", executed::incrementAndGet);
            return order;
        });
        var run = trigger();
        gate.awaitReached();

        run.pause();
        awaitTwoHeartbeats(run);
        run.resume();
        assertThat(run.info().times().pauseRequested()).isNull();
        gate.open();

        run.await(PATIENCE);
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves({"EVENT-2", "SLEEP-1"})
    void a_running_run_that_goes_to_sleep_is_paused_and_keeps_its_timer() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            gate.passDeaf();
            ctx.sleep("nap", Duration.ofHours(1));
            return order;
        });
        var run = trigger();
        gate.awaitReached();
        run.pause();
        gate.open();

        awaitStatus(run, PAUSED);
        run.resume();

        awaitStatus(run, SLEEPING);
        assertThat(run.info().times().due()).isAfter(Instant.now().plus(Duration.ofMinutes(50)));
    }

    @Test
    @Proves({"EVENT-2", "LEASE-7"})
    void a_pause_is_not_forgotten_when_another_worker_goes_on() throws InterruptedException {
        var run = handedBackPausing();

        startPacking();

        awaitStatus(run, PAUSED);
        assertThat(executed).hasValueLessThanOrEqualTo(1);
        run.resume();
        run.await(PATIENCE);
    }

    @Test
    @Proves({"EVENT-2", "LEASE-7"})
    void a_pause_that_is_withdrawn_between_two_workers_stops_nothing() throws InterruptedException {
        var run = handedBackPausing();

        run.resume();
        assertThat(run.info().times().pauseRequested()).isNull();
        startPacking();

        run.await(PATIENCE);
        assertThat(executed).hasValue(2);
    }

    /** A run that was asked to pause, and whose worker has left it before it reached a durable call. */
    private RunHandle<String> handedBackPausing() throws InterruptedException {
        var leaving = steadwork
                .worker()
                .drainTimeout(Duration.ZERO)
                .handle(ORDER, (ctx, order) -> {
                    gate.pass();
                    return order;
                })
                .start();
        var run = trigger();
        gate.awaitReached();
        run.pause();
        leaving.close();
        assertThat(run.status()).isEqualTo(PENDING);
        return run;
    }

    private void startPacking() {
        work(ORDER, (ctx, order) -> {
            ctx.run("pack", executed::incrementAndGet);
            ctx.run("ship", executed::incrementAndGet);
            return order;
        });
    }

    @Test
    @Proves("EVENT-2")
    void a_run_can_be_paused_and_resumed_any_number_of_times() {
        var names = new CopyOnWriteArrayList<String>();
        work(ORDER, (ctx, order) -> {
            for (int i = 0; i < 100; i++) {
                ctx.run("pack", step -> names.add(step.idempotencyKey()));
            }
            return order;
        });
        var run = trigger();

        int pauses = 0;
        while (!run.status().isTerminal()) {
            if (pausedUnlessEnded(run)) {
                pauses++;
                run.resume();
            }
        }

        awaitEnd(run);
        assertThat(run.status()).isEqualTo(COMPLETED);
        assertThat(names).hasSize(100).doesNotHaveDuplicates();
        assertThat(pauses).isPositive();
        assertThat(run.info().attempt()).isEqualTo(1);
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    void pausing_twice_and_resuming_twice_has_no_further_effect() {
        steadwork.register(ORDER);
        for (var run : List.of(
                trigger(), steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("o-2"))) {
            var before = run.info();
            for (int i = 0; i < 10; i++) {
                run.pause();
                var paused = run.info();
                run.pause();
                assertThat(run.info()).isEqualTo(paused);
                run.resume();
                var resumed = run.info();
                run.resume();
                assertThat(run.info()).isEqualTo(resumed);
            }
            assertThat(run.status()).isEqualTo(before.status());
            assertThat(run.info().times().due()).isEqualTo(before.times().due());
        }
    }

    @Test
    @Proves("RUN-2")
    void a_run_that_has_ended_can_be_neither_paused_nor_resumed() {
        work(ORDER, (ctx, order) -> {
            if (order.equals("bad")) {
                throw new PermanentFailure("bad");
            }
            return order;
        });
        var completed = trigger();
        completed.await(PATIENCE);
        var failed = steadwork.workflow(ORDER).trigger("bad");
        failureOf(failed);
        var cancelled = steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("o-1");
        cancelled.cancel();

        for (var run : List.of(completed, failed, cancelled)) {
            var ended = run.info();
            assertRefused(
                    ErrorCode.INVALID_STATE,
                    run::pause,
                    run.id().toString(),
                    ended.status().name());
            assertRefused(
                    ErrorCode.INVALID_STATE,
                    run::resume,
                    run.id().toString(),
                    ended.status().name());
            assertThat(run.info()).isEqualTo(ended);
        }
    }

    @Test
    @Proves("RUN-2")
    void a_new_run_is_pending_when_it_was_paused_and_resumed() {
        steadwork.register(ORDER);
        var run = trigger();

        run.pause();
        run.resume();

        assertThat(run.status()).isEqualTo(PENDING);
    }

    /** Pauses the run and waits until it stands still; false if it has ended meanwhile. */
    private static boolean pausedUnlessEnded(RunHandle<String> run) {
        try {
            run.pause();
        } catch (InvalidState ended) {
            return false;
        }
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> run.status() == PAUSED || run.status().isTerminal());
        return run.status() == PAUSED;
    }

    private void sleepFor(Duration duration) {
        work(ORDER, (ctx, order) -> {
            ctx.sleep("nap", duration);
            return order;
        });
    }

    private RunHandle<String> trigger() {
        return steadwork.workflow(ORDER).trigger("o-1");
    }
}
