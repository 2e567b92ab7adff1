package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.PayloadTooLarge;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Signals to runs, before, during and after the wait for them: EVENT-1. */
class SignalTest extends EngineTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private record Approval(String by, int amount) {}

    @Test
    @Proves("EVENT-1")
    void a_signal_wakes_the_run_that_waits_for_it() {
        work(ORDER, (ctx, order) -> {
            var approval = ctx.awaitEvent("approved", Approval.class, LONG);
            return approval.by() + " " + approval.amount();
        });
        var run = steadwork.workflow(ORDER).trigger("o-1");
        awaitStatus(run, RunStatus.SLEEPING);
        assertThat(Runs.step(run, "approved").status()).isEqualTo(StepStatus.WAITING);

        run.signal("approved", new Approval("ada", 42));

        assertThat(run.await(PATIENCE)).isEqualTo("ada 42");
        assertThat(Runs.step(run, "approved").kind()).isEqualTo(StepKind.EVENT);
        assertThat(Runs.step(run, "approved").status()).isEqualTo(StepStatus.COMPLETED);
    }

    @Test
    @Proves("EVENT-1")
    void a_run_that_waits_holds_no_slot() {
        steadwork
                .worker()
                .handle(ORDER, (ctx, order) -> order.equals("waits") ? ctx.awaitEvent("go", String.class, LONG) : order)
                .concurrency(1)
                .start();
        var waiting = steadwork.workflow(ORDER).trigger("waits");
        awaitStatus(waiting, RunStatus.SLEEPING);

        assertThat(steadwork.workflow(ORDER).trigger("passes").await(PATIENCE)).isEqualTo("passes");
        waiting.signal("go", "went");
        assertThat(waiting.await(PATIENCE)).isEqualTo("went");
    }

    @Test
    @Proves("EVENT-1")
    void a_signal_sent_before_the_run_starts_is_not_lost() {
        steadwork.register(ORDER);
        var run = steadwork.workflow(ORDER).trigger("o-1");
        run.signal("approved", "early");

        work(ORDER, (ctx, order) -> ctx.awaitEvent("approved", String.class, LONG));

        assertThat(run.await(PATIENCE)).isEqualTo("early");
    }

    @Test
    @Proves("EVENT-1")
    void a_signal_sent_while_the_run_executes_another_step_is_not_lost() throws InterruptedException {
        var busy = new Gate();
        work(ORDER, (ctx, order) -> {
            ctx.run("busy", busy::pass);
            return ctx.awaitEvent("approved", String.class, LONG);
        });
        var run = steadwork.workflow(ORDER).trigger("o-1");
        busy.awaitReached();
        run.signal("approved", "meanwhile");

        busy.open();

        assertThat(run.await(PATIENCE)).isEqualTo("meanwhile");
    }

    @Test
    @Proves("EVENT-1")
    void several_of_one_name_are_taken_in_the_order_they_were_sent() {
        work(ORDER, (ctx, order) -> {
            var taken = new ArrayList<String>();
            for (int i = 0; i < 5; i++) {
                taken.add(ctx.awaitEvent("item", String.class, LONG));
            }
            taken.add(ctx.awaitEvent("other", String.class, LONG));
            return String.join(",", taken);
        });
        var run = steadwork.workflow(ORDER).trigger("o-1");

        run.signal("other", "last");
        for (var item : List.of("a", "b", "c", "d", "e")) {
            run.signal("item", item);
        }

        assertThat(run.await(PATIENCE)).isEqualTo("a,b,c,d,e,last");
    }

    @Test
    @Proves("EVENT-1")
    void a_wait_in_vain_times_out_and_does_so_again_on_replay() {
        var timeouts = new AtomicInteger();
        work(ORDER, (ctx, order) -> {
            try {
                return ctx.awaitEvent("approved", String.class, Duration.ofMillis(200));
            } catch (AwaitTimeoutException late) {
                timeouts.incrementAndGet();
                assertThat(late)
                        .hasMessageContaining("'approved'")
                        .hasMessageContaining(ctx.runId().toString());
            }
            ctx.sleep("replay", Duration.ofMillis(10));
            return "gave up";
        });

        var run = steadwork.workflow(ORDER).trigger("o-1");

        assertThat(run.await(PATIENCE)).isEqualTo("gave up");
        assertThat(timeouts).hasValue(2);
        assertThat(Runs.step(run, "approved").status()).isEqualTo(StepStatus.FAILED);
    }

    @Test
    @Proves("EVENT-1")
    void a_timeout_that_nobody_catches_fails_the_run_at_once() {
        work(ORDER, (ctx, order) -> ctx.awaitEvent("approved", String.class, Duration.ZERO));

        var run = steadwork.workflow(ORDER).trigger("o-1");

        var error = failureOf(run);
        assertThat(error.type()).isEqualTo(RunError.AWAIT_TIMEOUT);
        assertThat(error.message()).contains("No signal 'approved'");
        assertThat(run.info().attempt()).isEqualTo(1);
    }

    @Test
    @Proves("EVENT-1")
    void other_signals_neither_end_the_wait_nor_prolong_it() {
        work(ORDER, (ctx, order) -> {
            try {
                return ctx.awaitEvent("approved", String.class, Duration.ofMillis(1500));
            } catch (AwaitTimeoutException late) {
                return "gave up, got " + ctx.awaitEvent("other", String.class, Duration.ZERO);
            }
        });
        var run = steadwork.workflow(ORDER).trigger("o-1");
        awaitStatus(run, RunStatus.SLEEPING);
        var until = run.info().times().due();

        run.signal("other", "x");

        assertThat(run.await(PATIENCE)).isEqualTo("gave up, got x");
        assertThat(Runs.step(run, "approved").finishedAt()).isBeforeOrEqualTo(until);
    }

    @Test
    @Proves("EVENT-1")
    void a_payload_may_be_null() {
        work(ORDER, (ctx, order) -> String.valueOf(ctx.awaitEvent("go", String.class, LONG)));
        var run = steadwork.workflow(ORDER).trigger("o-1");

        run.signal("go", null);

        assertThat(run.await(PATIENCE)).isEqualTo("null");
    }

    @Test
    @Proves({"EVENT-1", "EVENT-2"})
    void a_signal_to_a_paused_run_is_taken_when_it_is_resumed() {
        work(ORDER, (ctx, order) -> ctx.awaitEvent("approved", String.class, LONG));
        var run = steadwork.workflow(ORDER).trigger("o-1");
        awaitStatus(run, RunStatus.SLEEPING);
        for (int times = 0; times < 3; times++) {
            run.pause();
            run.resume();
        }
        run.pause();
        run.signal("approved", "while paused");
        assertThat(run.status()).isEqualTo(RunStatus.PAUSED);

        run.resume();

        assertThat(run.await(PATIENCE)).isEqualTo("while paused");
    }

    @Test
    @Proves("EVENT-1")
    void a_signal_to_a_run_that_has_ended_is_refused() {
        work(ORDER, (ctx, order) -> order);
        var run = steadwork.workflow(ORDER).trigger("o-1");
        run.await(PATIENCE);

        assertThatThrownBy(() -> run.signal("approved", "late"))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(run.id().toString())
                .hasMessageContaining("COMPLETED")
                .hasMessageContaining("'approved'");
        var unknown = new RunId(new UUID(7, 7));
        assertThatThrownBy(() -> steadwork.run(unknown).signal("approved", "late"))
                .isInstanceOf(NotFound.class);
    }

    @Test
    @Proves("DATA-2")
    void a_signal_that_is_too_large_is_refused() {
        steadwork.register(ORDER);
        var run = steadwork.workflow(ORDER).trigger("o-1");

        assertThatThrownBy(() -> run.signal("file", new byte[3 * 1024 * 1024]))
                .isInstanceOf(PayloadTooLarge.class)
                .hasMessageContaining("Signal file");
    }

    @Test
    @Proves("CANCEL-1")
    void a_run_that_waits_for_a_signal_can_be_cancelled() {
        work(ORDER, (ctx, order) -> ctx.awaitEvent("approved", String.class, LONG));
        var run = steadwork.workflow(ORDER).trigger("o-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_waits_for_a_signal_misses_its_deadline() {
        work(ORDER, (ctx, order) -> ctx.awaitEvent("approved", String.class, LONG));

        var run = steadwork.workflow(ORDER).deadline(Duration.ofMillis(500)).trigger("o-1");

        assertThat(failureOf(run).type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
    }
}
