package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.awaitEnd;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidState;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.StepInfo;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CancelTest extends EngineTest {
    private static final Workflow<String, String> ORDER =
            Workflow.define("order", String.class, String.class).retry(quick(5));
    private static final int RACES = 30;

    private final Gate gate = new Gate();
    private final AtomicInteger executed = new AtomicInteger();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_pending_run_ends_at_once_and_is_never_executed() {
        steadwork.register(ORDER);
        var run = trigger();

        run.cancel();

        assertThat(run.status()).isEqualTo(CANCELLED);
        assertThat(run.info().finishedAt()).isNotNull();
        assertThat(run.info().times().due()).isNull();
        work(ORDER, counting());
        trigger().await(PATIENCE);
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_sleeping_run_ends_at_once_and_never_wakes() {
        work(ORDER, (ctx, order) -> {
            ctx.sleep("nap", Duration.ofMillis(order.equals("long") ? 1500 : 1600));
            executed.incrementAndGet();
            return order;
        });
        var run = steadwork.workflow(ORDER).trigger("long");
        awaitStatus(run, SLEEPING);
        var later = steadwork.workflow(ORDER).trigger("longer");

        run.cancel();

        assertThat(run.status()).isEqualTo(CANCELLED);
        later.await(PATIENCE);
        assertThat(executed).hasValue(1);
        assertThat(run.status()).isEqualTo(CANCELLED);
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_paused_run_ends_at_once() {
        steadwork.register(ORDER);
        var run = trigger();
        run.pause();

        run.cancel();

        assertThat(run.status()).isEqualTo(CANCELLED);
        assertRefused(ErrorCode.INVALID_STATE, run::resume, run.id().toString());
    }

    @Test
    @Proves("CANCEL-1")
    void a_run_that_waits_for_a_retry_ends_at_once() {
        var hourly =
                RetryPolicy.defaults().withInitialInterval(Duration.ofHours(1)).withMaxInterval(Duration.ofHours(1));
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", StepOptions.defaults().retry(hourly), step -> {
                throw new IllegalStateException("declined");
            });
            return order;
        });
        var run = trigger();
        awaitStatus(run, SLEEPING);

        run.cancel();

        assertThat(run.status()).isEqualTo(CANCELLED);
    }

    @Test
    @Proves("CANCEL-1")
    void a_running_run_hears_of_it_at_its_next_durable_call() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            gate.passDeaf();
            ctx.run("charge", executed::incrementAndGet);
            return order;
        });
        var run = trigger();
        gate.awaitReached();

        run.cancel();
        assertThat(run.info().times().cancelRequested()).isNotNull();
        gate.open();

        awaitCancelled(run);
        assertThat(run.steps()).hasSizeLessThanOrEqualTo(1);
        assertThat(run.info().lease().worker()).isNull();
    }

    @Test
    @Proves({"CANCEL-1", "CLAIM-7"})
    void a_long_step_is_interrupted_without_waiting_for_the_heartbeat() throws InterruptedException {
        var slow = ORDER.lease(Duration.ofMinutes(30), Duration.ofMinutes(10));
        var interrupted = new CompletableFuture<Boolean>();
        work(slow, (ctx, order) -> {
            ctx.run("wait", step -> passUntilInterrupted(step::cancelRequested, interrupted));
            return order;
        });
        var run = steadwork.workflow(slow).trigger("o-1");
        gate.awaitReached();

        run.cancel();

        awaitCancelled(run);
        assertThat(interrupted).isCompletedWithValue(true);
    }

    @Test
    @Proves("CANCEL-1")
    void a_long_step_hears_by_heartbeat_of_a_cancel_from_another_process() throws InterruptedException {
        var interrupted = new CompletableFuture<Boolean>();
        work(ORDER, (ctx, order) -> {
            ctx.run("wait", step -> passUntilInterrupted(ctx::cancelRequested, interrupted));
            return order;
        });
        var run = trigger();
        gate.awaitReached();

        open(settings -> settings.listen(false)).run(run.id()).cancel();

        awaitCancelled(run);
        assertThat(interrupted).isCompletedWithValue(true);
    }

    @Test
    @Proves("CANCEL-1")
    void a_wait_between_attempts_ends_with_it() throws InterruptedException {
        var policy = RetryPolicy.forever()
                .withInitialInterval(Duration.ofMillis(900))
                .withCoefficient(1)
                .withJitter(0);
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", StepOptions.defaults().retry(policy), step -> {
                executed.incrementAndGet();
                gate.pass();
                throw new IllegalStateException("declined");
            });
            return order;
        });
        var run = trigger();
        gate.awaitReached();
        gate.open();

        run.cancel();

        awaitCancelled(run);
        assertThat(executed).hasValueLessThan(4);
    }

    @Test
    @Proves("CANCEL-1")
    void what_the_handler_returns_afterwards_changes_nothing() throws InterruptedException {
        assertCancelledWhateverFollows((ctx, order) -> {
            passSwallowing();
            return "done anyway";
        });
    }

    @Test
    @Proves("CANCEL-1")
    void what_the_handler_throws_afterwards_changes_nothing() throws InterruptedException {
        assertCancelledWhateverFollows((ctx, order) -> {
            passSwallowing();
            throw new IllegalStateException("failed anyway");
        });
    }

    @Test
    @Proves("CANCEL-1")
    void a_handler_that_swallows_everything_is_cancelled_all_the_same() throws InterruptedException {
        assertCancelledWhateverFollows((ctx, order) -> {
            for (int i = 0; i < 3; i++) {
                try {
                    ctx.run("wait", gate::pass);
                } catch (Throwable swallowed) {
                    executed.incrementAndGet();
                }
            }
            return "done anyway";
        });
        assertThat(executed).hasValue(3);
    }

    @Test
    @Proves({"CANCEL-1", "STEP-3"})
    void the_result_of_a_step_that_ends_in_spite_of_it_is_kept() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.step("charge", String.class, step -> {
                passSwallowing();
                return "paid";
            });
            return ctx.step("ship", String.class, step -> "shipped");
        });
        var run = trigger();
        gate.awaitReached();

        run.cancel();

        awaitCancelled(run);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("charge");
        assertThat(step(run, "charge").status()).isEqualTo(StepStatus.COMPLETED);
    }

    @Test
    @Proves("CANCEL-2")
    void a_completed_run_cannot_be_cancelled() {
        work(ORDER, counting());
        var run = trigger();
        run.await(PATIENCE);
        var ended = run.info();

        assertRefused(ErrorCode.INVALID_STATE, run::cancel, run.id().toString(), "COMPLETED");
        assertThat(run.info()).isEqualTo(ended);
    }

    @Test
    @Proves("CANCEL-2")
    void a_failed_run_cannot_be_cancelled() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", Runs.attempts(1), step -> {
                throw new IllegalStateException("declined");
            });
            return order;
        });
        var run = trigger();
        failureOf(run);
        var ended = run.info();

        assertRefused(ErrorCode.INVALID_STATE, run::cancel, run.id().toString(), "FAILED");
        assertThat(run.info()).isEqualTo(ended);
    }

    @Test
    @Proves("CANCEL-2")
    void cancelling_a_cancelled_run_has_no_effect() {
        steadwork.register(ORDER);
        var run = trigger();
        run.cancel();
        var ended = run.info();

        run.cancel();

        assertThat(run.info()).isEqualTo(ended);
    }

    @Test
    @Proves("STORE-3")
    void an_unknown_run_is_not_found() {
        var unknown = steadwork.run(new RunId(UUID.fromString("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e")));

        assertRefused(ErrorCode.NOT_FOUND, unknown::cancel, unknown.id().toString());
    }

    @Test
    @Proves({"CANCEL-1", "CANCEL-2"})
    void a_run_that_ends_while_it_is_cancelled_is_one_or_the_other() throws InterruptedException {
        var gates = new ConcurrentHashMap<String, Gate>();
        work(ORDER, (ctx, order) -> {
            gates.get(order).passDeaf();
            return order;
        });
        for (int race = 0; race < RACES; race++) {
            var start = new Gate();
            gates.put("o-" + race, start);
            var run = steadwork.workflow(ORDER).trigger("o-" + race);
            start.awaitReached();

            start.open();
            boolean accepted = isAccepted(run);
            awaitEnd(run);

            assertThat(run.status()).as("status after race " + race).isEqualTo(accepted ? CANCELLED : COMPLETED);
        }
    }

    @Test
    @Proves({"CANCEL-1", "EVENT-2"})
    void a_run_that_is_asked_to_pause_and_to_end_ends() throws InterruptedException {
        var gates = new ConcurrentHashMap<String, Gate>();
        work(ORDER, (ctx, order) -> {
            ctx.run("wait", gates.get(order)::passDeaf);
            ctx.run("more", executed::incrementAndGet);
            return order;
        });
        for (int race = 0; race < RACES; race++) {
            var start = new Gate();
            gates.put("o-" + race, start);
            var run = steadwork.workflow(ORDER).trigger("o-" + race);
            start.awaitReached();

            run.pause();
            start.open();
            run.cancel();

            awaitCancelled(run);
        }
        assertThat(executed).hasValue(0);
    }

    private static boolean isAccepted(RunHandle<String> run) {
        try {
            run.cancel();
            return true;
        } catch (InvalidState ended) {
            return false;
        }
    }

    private void assertCancelledWhateverFollows(WorkflowHandler<String, String> handler) throws InterruptedException {
        work(ORDER, handler);
        var run = trigger();
        gate.awaitReached();

        run.cancel();

        awaitCancelled(run);
        var ended = run.info();
        gate.open();
        assertThat(ended.error()).isNull();
        assertThat(run.info()).isEqualTo(ended);
        assertRefused(ErrorCode.RUN_CANCELLED, run::result);
    }

    private WorkflowHandler<String, String> counting() {
        return (ctx, order) -> {
            executed.incrementAndGet();
            return order;
        };
    }

    private RunHandle<String> trigger() {
        return steadwork.workflow(ORDER).trigger("o-1");
    }

    /** Waits at the gate; an interrupt ends the wait and is forgotten. */
    private void passSwallowing() {
        try {
            gate.pass();
        } catch (InterruptedException swallowed) {
            executed.incrementAndGet();
        }
    }

    private void passUntilInterrupted(BooleanSupplier isCancelRequested, CompletableFuture<Boolean> interrupted)
            throws InterruptedException {
        try {
            gate.pass();
        } catch (InterruptedException heeded) {
            interrupted.complete(isCancelRequested.getAsBoolean());
            throw heeded;
        }
    }
}
