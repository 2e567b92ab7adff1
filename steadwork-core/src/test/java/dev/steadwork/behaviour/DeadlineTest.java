package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ErrorCode;
import dev.steadwork.RetryAfter;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadlineTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);
    private static final Workflow<String, String> OTHER = Workflow.define("other", String.class, String.class);
    private static final Duration SOON = Duration.ofMillis(800);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Gate gate = new Gate();
    private final AtomicInteger executed = new AtomicInteger();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"RUN-6", "RUN-2"})
    void a_run_that_nobody_claims_fails_at_its_deadline() {
        steadwork.register(ORDER);
        work(OTHER, (ctx, input) -> input);

        assertDeadlineExceeded(triggerWithDeadline(SOON));
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_waits_for_a_slot_fails_at_its_deadline_and_is_not_executed() throws InterruptedException {
        steadwork
                .worker()
                .concurrency(1)
                .handle(ORDER, (ctx, order) -> {
                    executed.incrementAndGet();
                    ctx.run("wait", gate::pass);
                    return order;
                })
                .start();
        var busy = steadwork.workflow(ORDER).trigger("o-1");
        gate.awaitReached();

        assertDeadlineExceeded(triggerWithDeadline(SOON));
        gate.open();

        busy.await(PATIENCE);
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves({"RUN-6", "RUN-2"})
    void a_sleeping_run_fails_at_its_deadline() {
        work(ORDER, (ctx, order) -> {
            ctx.sleep("nap", HOUR);
            executed.incrementAndGet();
            return order;
        });

        assertDeadlineExceeded(triggerWithDeadline(SOON));
        assertThat(executed).hasValue(0);
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_waits_for_its_start_fails_at_its_deadline() {
        work(ORDER, (ctx, order) -> order);

        assertDeadlineExceeded(
                steadwork.workflow(ORDER).delay(HOUR).deadline(SOON).trigger("o-1"));
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_waits_for_a_retry_fails_at_its_deadline() {
        work(ORDER, (ctx, order) -> {
            throw new RetryAfter(HOUR, "busy");
        });

        assertDeadlineExceeded(triggerWithDeadline(SOON));
    }

    @Test
    @Proves({"RUN-6", "RUN-2"})
    void a_paused_run_fails_at_its_deadline() {
        work(ORDER, (ctx, order) -> {
            ctx.sleep("nap", HOUR);
            return order;
        });
        var run = triggerWithDeadline(Duration.ofSeconds(2));
        awaitStatus(run, SLEEPING);
        run.pause();

        assertDeadlineExceeded(run);
    }

    @Test
    @Proves("RUN-6")
    void a_running_step_is_interrupted_at_the_deadline() {
        var interrupted = new CompletableFuture<Boolean>();
        work(ORDER, (ctx, order) -> {
            ctx.run("wait", () -> passUntilInterrupted(interrupted));
            return order;
        });

        var run = triggerWithDeadline(SOON);

        assertDeadlineExceeded(run);
        assertThat(interrupted).isCompletedWithValue(true);
        assertThat(run.steps()).isEmpty();
    }

    @Test
    @Proves("RUN-6")
    void a_run_past_its_deadline_goes_no_further_at_its_next_step() {
        work(ORDER, (ctx, order) -> {
            gate.passDeaf();
            ctx.run("charge", executed::incrementAndGet);
            return order;
        });

        var run = triggerWithDeadline(SOON);
        openAfterDeadlineOf(run);

        assertDeadlineExceeded(run);
        assertThat(executed).hasValue(0);
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_returns_after_its_deadline_has_failed() {
        work(ORDER, (ctx, order) -> {
            gate.passDeaf();
            return order;
        });

        var run = triggerWithDeadline(SOON);
        openAfterDeadlineOf(run);

        assertDeadlineExceeded(run);
    }

    @Test
    @Proves("RUN-6")
    void a_handler_that_swallows_everything_fails_at_its_deadline_all_the_same() {
        work(ORDER, (ctx, order) -> {
            try {
                ctx.run("wait", gate::pass);
            } catch (Throwable swallowed) {
                executed.incrementAndGet();
            }
            return "done anyway";
        });

        assertDeadlineExceeded(triggerWithDeadline(SOON));
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("RUN-6")
    void a_deadline_in_the_past_fails_the_run_without_executing_it() {
        work(ORDER, (ctx, order) -> "done " + executed.incrementAndGet());

        assertDeadlineExceeded(steadwork
                .workflow(ORDER)
                .deadline(Instant.now().minusSeconds(1))
                .trigger("o-1"));
        assertThat(executed).hasValue(0);
    }

    @Test
    @Proves("RUN-6")
    void a_run_that_ends_before_its_deadline_stays_as_it_is() {
        work(ORDER, (ctx, order) -> order);
        var early = triggerWithDeadline(Duration.ofSeconds(3));
        early.await(PATIENCE);
        var ended = early.info();

        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(ended.times().deadline()));
        assertDeadlineExceeded(steadwork
                .workflow(ORDER)
                .delay(HOUR)
                .deadline(Duration.ofMillis(10))
                .trigger("o-2"));

        assertThat(early.info()).isEqualTo(ended);
    }

    @Test
    @Proves({"RUN-6", "TRIG-8"})
    void a_workflows_timeout_is_the_deadline_of_its_runs() {
        var brief = ORDER.timeout(SOON);
        work(brief, (ctx, order) -> {
            ctx.sleep("nap", HOUR);
            return order;
        });

        assertDeadlineExceeded(steadwork.workflow(brief).trigger("o-1"));
        assertDeadlineExceeded(steadwork.workflow("order").trigger("by its name alone"));
    }

    @Test
    @Proves({"RUN-6", "TRIG-8"})
    void a_workflows_timeout_counts_from_the_start_and_a_triggers_deadline_wins_over_it() {
        var hourly = ORDER.timeout(HOUR);
        steadwork.register(hourly);
        var start = Instant.parse("2999-01-01T00:00:00Z");
        var deadline = Instant.parse("2999-06-01T00:00:00Z");

        var delayed = steadwork.workflow(hourly).delay(HOUR).trigger("o-1").info();
        var scheduled = steadwork.workflow(hourly).startAt(start).trigger("o-1").info();
        var byName = steadwork.workflow("order").startAt(start).trigger("o-1").info();
        var chosen =
                steadwork.workflow(hourly).deadline(deadline).trigger("o-1").info();

        assertThat(delayed.times().deadline())
                .isEqualTo(delayed.createdAt().plus(HOUR).plus(HOUR));
        assertThat(scheduled.times().deadline()).isEqualTo(start.plus(HOUR));
        assertThat(byName.times().deadline()).isEqualTo(start.plus(HOUR));
        assertThat(chosen.times().deadline()).isEqualTo(deadline);
    }

    @Test
    @Proves("RUN-6")
    void a_deadline_must_lie_ahead_when_it_is_given_as_a_wait() {
        var order = steadwork.workflow(ORDER);

        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> order.deadline(Duration.ZERO), "deadline", "PT0S");
        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> order.deadline(Duration.ofSeconds(-1)), "deadline", "PT-1S");
        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> ORDER.timeout(Duration.ZERO), "timeout", "PT0S");
    }

    private RunHandle<String> triggerWithDeadline(Duration deadline) {
        return steadwork.workflow(ORDER).deadline(deadline).trigger("o-1");
    }

    private static void assertDeadlineExceeded(RunHandle<?> run) {
        var error = failureOf(run);

        var info = run.info();
        assertThat(error.type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        assertThat(error.message()).contains(info.times().deadline().toString());
        assertThat(info.status()).isEqualTo(FAILED);
        assertThat(info.finishedAt()).isAfterOrEqualTo(info.times().deadline());
    }

    private void openAfterDeadlineOf(RunHandle<String> run) {
        // Well after it: a worker's reading of the database's clock is late by the way back of its claim.
        var deadline = run.info().times().deadline().plusSeconds(2);
        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(deadline));
        gate.open();
    }

    private void passUntilInterrupted(CompletableFuture<Boolean> interrupted) throws InterruptedException {
        try {
            gate.pass();
        } catch (InterruptedException heeded) {
            interrupted.complete(true);
            throw heeded;
        }
    }
}
