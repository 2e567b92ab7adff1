package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ErrorCode;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TerminateTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private final Gate gate = new Gate();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_pending_run_ends_at_once_with_its_reason() {
        steadwork.register(ORDER);
        var run = trigger();

        assertTerminated(run);
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_sleeping_run_ends_at_once_with_its_reason() {
        work(ORDER, (ctx, order) -> {
            ctx.sleep("nap", Duration.ofHours(1));
            return order;
        });
        var run = trigger();
        awaitStatus(run, SLEEPING);

        assertTerminated(run);
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_paused_run_ends_at_once_with_its_reason() {
        steadwork.register(ORDER);
        var run = trigger();
        run.pause();

        assertTerminated(run);
    }

    @Test
    @Proves({"CANCEL-1", "RUN-2"})
    void a_running_run_ends_at_once_with_its_reason() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.run("wait", gate::passDeaf);
            return order;
        });
        var run = trigger();
        gate.awaitReached();

        assertTerminated(run);
    }

    @Test
    @Proves({"CANCEL-1", "LEASE-3"})
    void its_handler_is_interrupted() throws InterruptedException {
        var slow = ORDER.lease(Duration.ofMinutes(30), Duration.ofMinutes(10));
        var interrupted = new CompletableFuture<Boolean>();
        work(slow, (ctx, order) -> {
            ctx.run("wait", () -> passUntilInterrupted(interrupted));
            return order;
        });
        var run = steadwork.workflow(slow).trigger("o-1");
        gate.awaitReached();

        run.terminate("enough");

        assertThat(interrupted).succeedsWithin(PATIENCE);
    }

    @Test
    @Proves({"CANCEL-1", "LEASE-3"})
    void what_its_handler_does_later_changes_nothing() throws InterruptedException {
        var left = new CompletableFuture<Throwable>();
        var worker = work(ORDER, (ctx, order) -> {
            try {
                ctx.step("charge", String.class, step -> {
                    gate.passDeaf();
                    return "paid";
                });
            } catch (Throwable suspension) {
                left.complete(suspension);
                throw suspension;
            }
            return "shipped";
        });
        var run = trigger();
        gate.awaitReached();

        run.terminate("enough");
        var ended = run.info();
        gate.open();

        assertThat(left).succeedsWithin(PATIENCE);
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
        assertThat(run.info()).isEqualTo(ended);
        assertThat(run.steps()).isEmpty();
        assertRefused(ErrorCode.RUN_CANCELLED, run::result);
    }

    @Test
    @Proves({"CANCEL-1", "LEASE-3", "RETRY-1"})
    void what_its_handler_does_later_changes_nothing_although_the_run_was_retried_meanwhile()
            throws InterruptedException {
        var gates = new ConcurrentHashMap<Long, Gate>();
        var worker = work(ORDER, (ctx, order) -> {
            var own = gates.computeIfAbsent(ctx.fencingToken(), token -> new Gate());
            return ctx.step("charge", String.class, step -> {
                own.passDeaf();
                return "payment of claim " + step.fencingToken();
            });
        });
        var run = trigger();
        gates.computeIfAbsent(1L, token -> new Gate()).awaitReached();
        run.terminate("enough");
        run.retry();
        gates.computeIfAbsent(3L, token -> new Gate()).awaitReached();

        gates.get(1L).open();
        await().atMost(PATIENCE).until(() -> worker.active() == 1);
        assertThat(run.steps()).noneMatch(step -> step.finishedAt() != null);
        gates.get(3L).open();

        assertThat(run.await(PATIENCE)).isEqualTo("payment of claim 3");
        assertThat(step(run, "charge").output()).hasToString("\"payment of claim 3\"");
    }

    @Test
    @Proves({"CANCEL-1", "LEASE-3"})
    void its_handler_is_interrupted_although_the_run_was_retried_at_once() throws InterruptedException {
        var interrupted = new CompletableFuture<Boolean>();
        work(ORDER, (ctx, order) -> {
            if (ctx.fencingToken() == 1) {
                passUntilInterrupted(interrupted);
            }
            return "claim " + ctx.fencingToken();
        });
        var run = trigger();
        gate.awaitReached();

        run.terminate("enough");
        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("claim 3");
        assertThat(interrupted).succeedsWithin(PATIENCE);
    }

    @Test
    @Proves("RUN-2")
    void a_run_that_has_ended_cannot_be_terminated() {
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
                    () -> run.terminate("late"),
                    ended.status().name());
            assertThat(run.info()).isEqualTo(ended);
        }
        assertThat(completed.status()).isEqualTo(COMPLETED);
    }

    @Test
    @Proves("CANCEL-1")
    void a_reason_is_needed() {
        steadwork.register(ORDER);
        var run = trigger();

        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> run.terminate(" "), "reason");
        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> run.terminate(null), "reason");
    }

    private void assertTerminated(RunHandle<String> run) {
        long epoch = run.info().lease().epoch();

        run.terminate("enough");

        var info = run.info();
        assertThat(info.status()).isEqualTo(CANCELLED);
        assertThat(info.finishedAt()).isNotNull();
        assertThat(info.error()).isEqualTo(new RunError(RunError.TERMINATED, "enough", null, null));
        assertThat(info.lease().epoch()).isGreaterThan(epoch);
        awaitCancelled(run);
    }

    private RunHandle<String> trigger() {
        return steadwork.workflow(ORDER).trigger("o-1");
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
