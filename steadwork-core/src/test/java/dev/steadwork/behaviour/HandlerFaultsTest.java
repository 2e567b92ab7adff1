package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Serialization;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepInfo;
import dev.steadwork.StepOptions;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whatever user code does harms its own run only: the worker, which has a single slot here, goes on. */
class HandlerFaultsTest extends EngineTest {
    private static final Workflow<String, Object> FAULTY =
            Workflow.define("faulty", String.class, Object.class).onQueue("all").retry(quick(1));
    private static final Workflow<String, String> HEALTHY =
            Workflow.define("healthy", String.class, String.class).onQueue("all");
    private static final StepOptions BRIEF = attempts(2).timeout(Duration.ofMillis(200));

    private static final Map<String, Throwable> ERRORS = Map.of(
            "stack", new StackOverflowError(),
            "memory", new OutOfMemoryError("pretended"),
            "class", new NoClassDefFoundError("com/example/Missing"),
            "static", new ExceptionInInitializerError(new RuntimeException()),
            "assertion", new AssertionError("impossible"),
            "own", new OwnError(),
            "throwable", new Throwable("neither exception nor error"));

    private final Gate gate = new Gate();

    @AfterEach
    void letGoOfStuckCode() {
        gate.open();
    }

    @Test
    @Proves("STEP-9")
    void a_step_that_takes_longer_than_its_timeout_is_interrupted_and_tried_again() {
        var interrupted = new CompletableFuture<Boolean>();
        work((ctx, input) -> ctx.step("fetch", String.class, BRIEF, step -> {
            if (step.attempt() == 1) {
                passUntilInterrupted(interrupted);
            }
            return "attempt " + step.attempt();
        }));

        var run = trigger();

        assertThat(run.await(PATIENCE)).isEqualTo("attempt 2");
        assertThat(interrupted).isCompletedWithValue(true);
        var timedOut = step(run, "fetch").failedAttempts().get(0);
        assertThat(timedOut.error().type()).isEqualTo(RunError.STEP_TIMEOUT);
        assertThat(timedOut.error().message()).contains("fetch", "PT0.2S");
        assertThat(Duration.between(timedOut.startedAt(), timedOut.finishedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(200));
    }

    @Test
    @Proves("STEP-9")
    void a_step_that_always_takes_too_long_fails() {
        work((ctx, input) -> {
            ctx.run("fetch", BRIEF, step -> gate.pass());
            return input;
        });

        assertThat(failureOf(trigger()).type()).isEqualTo(RunError.STEP_TIMEOUT);
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void a_step_that_ignores_its_timeout_is_left_behind_and_its_late_result_is_not_kept() {
        var late = new CompletableFuture<String>();
        work((ctx, input) -> ctx.step("fetch", String.class, BRIEF, step -> {
            if (step.attempt() == 1) {
                gate.passDeaf();
                late.complete("too late");
                return "too late";
            }
            return "in time";
        }));

        var run = trigger();
        assertThat(run.await(PATIENCE)).isEqualTo("in time");
        gate.open();

        assertThat(late).succeedsWithin(PATIENCE);
        assertThat(step(run, "fetch").output()).hasToString("\"in time\"");
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void a_step_within_its_timeout_returns_its_result_or_its_own_failure() {
        var generous = attempts(1).timeout(PATIENCE);
        work((ctx, input) -> {
            var found = ctx.step("find", String.class, generous, step -> "found");
            try {
                ctx.run("lose", generous, step -> {
                    throw new IllegalStateException("lost");
                });
                return "impossible";
            } catch (StepFailedException failed) {
                return found + " and " + failed.error().message();
            }
        });

        assertThat(trigger().await(PATIENCE)).isEqualTo("found and lost");
    }

    @Test
    @Proves("STEP-9")
    void whatever_a_handler_throws_fails_its_run_only() {
        work((ctx, name) -> sneak(ERRORS.get(name)));

        ERRORS.forEach((name, error) -> {
            var stored = failureOf(steadwork.workflow(FAULTY).trigger(name));
            assertThat(stored.type()).isEqualTo(error.getClass().getName());
            assertWorkerGoesOn();
        });
    }

    @Test
    @Proves("STEP-9")
    void whatever_a_step_throws_fails_its_run_only() {
        work((ctx, name) -> ctx.step("break", Object.class, attempts(1), step -> sneak(ERRORS.get(name))));

        ERRORS.forEach((name, error) -> {
            var stored = failureOf(steadwork.workflow(FAULTY).trigger(name));
            assertThat(stored.type()).isEqualTo(error.getClass().getName());
            assertThat(stored.step()).isEqualTo("break");
            assertWorkerGoesOn();
        });
    }

    @Test
    @Proves("STEP-9")
    void a_handler_that_overflows_its_stack_may_be_tried_again() {
        var workflow = FAULTY.retry(quick(2));
        startWorker(workflow, (ctx, input) -> ctx.attempt() == 1 ? overflow(1) : "recovered");

        assertThat(steadwork.workflow(workflow).trigger("x").await(PATIENCE)).isEqualTo("recovered");
    }

    @Test
    @Proves("STEP-9")
    void an_exception_that_cannot_describe_itself_is_stored_all_the_same() {
        work((ctx, input) -> {
            throw new Indescribable();
        });

        var error = failureOf(trigger());

        assertThat(error.type()).isEqualTo(Indescribable.class.getName());
        assertThat(error.message()).contains(UnsupportedOperationException.class.getName());
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void an_exception_with_unstorable_text_is_stored_readably() {
        work((ctx, input) -> {
            throw new IllegalStateException("zero \0 half \uD83D and " + "long ".repeat(100_000));
        });

        var run = trigger();
        failureOf(run);

        assertThat(run.info().error().message())
                .startsWith("zero \uFFFD half \uFFFD and long")
                .hasSizeLessThan(5_000);
        assertWorkerGoesOn();
    }

    @Test
    @Proves({"STEP-9", "RUN-6"})
    void a_handler_that_blocks_for_ever_and_ignores_interrupts_is_left_behind_at_its_deadline() {
        work((ctx, input) -> {
            gate.passDeaf();
            return input;
        });

        var run = steadwork.workflow(FAULTY).deadline(Duration.ofMillis(500)).trigger("x");

        assertThat(failureOf(run).type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        assertWorkerGoesOn();
    }

    @Test
    @Proves({"STEP-9", "CANCEL-1"})
    void a_step_that_blocks_for_ever_and_ignores_interrupts_is_left_behind_when_cancelled() throws Exception {
        var wentOn = new CompletableFuture<Throwable>();
        work((ctx, input) -> {
            try {
                ctx.run("block", gate::passDeaf);
            } catch (Throwable suspension) {
                wentOn.complete(suspension);
            }
            return ctx.step("after", String.class, step -> "never");
        });

        var run = trigger();
        gate.awaitReached();
        run.cancel();

        awaitCancelled(run);
        assertWorkerGoesOn();
        var ended = run.info();
        gate.open();
        assertThat(wentOn).succeedsWithin(PATIENCE);
        assertWorkerGoesOn();
        assertThat(run.info()).isEqualTo(ended);
        assertThat(run.steps()).isEmpty();
    }

    @Test
    @Proves({"STEP-9", "SLEEP-1"})
    void a_handler_that_swallows_everything_sleeps_all_the_same() {
        var swallowed = new AtomicInteger();
        work((ctx, input) -> {
            for (int i = 0; i < 3; i++) {
                try {
                    ctx.sleep("nap", Duration.ofMillis(300));
                } catch (Throwable suspension) {
                    swallowed.incrementAndGet();
                }
            }
            try {
                return ctx.step("charge", String.class, step -> "slept");
            } catch (Throwable suspension) {
                return "swallowed";
            }
        });

        var run = trigger();

        assertThat(run.await(PATIENCE)).isEqualTo("slept");
        assertThat(swallowed).hasValue(3 + 2 + 1);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("nap", "nap#2", "nap#3", "charge");
        var info = run.info();
        assertThat(Duration.between(info.startedAt(), info.finishedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(900));
    }

    @Test
    @Proves("STEP-9")
    void a_handler_that_turns_a_suspension_into_its_own_failure_is_not_failed() {
        work((ctx, input) -> {
            try {
                ctx.sleep("nap", Duration.ofMillis(10));
            } catch (Throwable suspension) {
                throw new IllegalStateException(suspension);
            }
            return "slept";
        });

        assertThat(trigger().await(PATIENCE)).isEqualTo("slept");
    }

    @Test
    @Proves("STEP-9")
    void a_step_inside_a_step_is_refused() {
        work((ctx, input) -> ctx.step("outer", String.class, attempts(1), outer -> {
            return ctx.step("inner", String.class, inner -> "never");
        }));

        var error = failureOf(trigger());

        assertThat(error.type()).isEqualTo(InvalidState.class.getName());
        assertThat(error.message()).contains("inner");
        assertThat(error.step()).isEqualTo("outer");
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void a_sleep_inside_a_timed_step_is_refused() {
        work((ctx, input) -> {
            ctx.run("outer", attempts(1).timeout(PATIENCE), step -> ctx.sleep("inner", Duration.ofMillis(1)));
            return input;
        });

        assertThat(failureOf(trigger()).type()).isEqualTo(InvalidState.class.getName());
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void a_durable_call_from_another_thread_is_refused() {
        work((ctx, input) -> {
            var elsewhere = CompletableFuture.supplyAsync(() -> ctx.step("elsewhere", String.class, step -> "never"));
            assertThatThrownBy(elsewhere::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(InvalidState.class);
            return ctx.step("here", String.class, step -> "fine");
        });

        var run = trigger();

        assertThat(run.await(PATIENCE)).isEqualTo("fine");
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("here");
    }

    @Test
    @Proves("STEP-9")
    void a_durable_call_after_the_handler_has_ended_is_refused() {
        var kept = new AtomicReference<WorkflowContext>();
        work((ctx, input) -> {
            kept.set(ctx);
            return input;
        });

        var run = trigger();
        run.await(PATIENCE);

        assertThatThrownBy(() -> kept.get().run("late", () -> {})).isInstanceOf(InvalidState.class);
        assertThatThrownBy(() -> kept.get().sleep("late", Duration.ofMillis(1))).isInstanceOf(InvalidState.class);
        assertThat(run.steps()).isEmpty();
    }

    @Test
    @Proves("STEP-9")
    void an_invalid_step_name_fails_the_run_at_once() {
        var names = List.of("", " ", "new\nline", "nul\0", "half \uD83D", "x".repeat(256));
        var workflow = FAULTY.retry(quick(5));
        var entries = new AtomicInteger();
        startWorker(workflow, (ctx, index) -> {
            entries.incrementAndGet();
            return ctx.step(names.get(Integer.parseInt(index)), String.class, step -> "never");
        });

        for (int i = 0; i < names.size(); i++) {
            var error = failureOf(steadwork.workflow(workflow).trigger(Integer.toString(i)));
            assertThat(error.type()).isEqualTo(InvalidArgument.class.getName());
            assertThat(error.message()).startsWith("step name");
        }
        assertThat(entries).hasValue(names.size());
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void nulls_are_refused_where_a_value_is_needed() {
        work((ctx, input) -> {
            assertThatThrownBy(() -> ctx.run(null, () -> {})).isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.step("s", String.class, null)).isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.step("s", (Class<String>) null, step -> ""))
                    .isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.step("s", String.class, null, step -> ""))
                    .isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.sleep("s", null)).isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.sleepUntil("s", null)).isInstanceOf(InvalidArgument.class);
            assertThatThrownBy(() -> ctx.sleep("s", Duration.ofMillis(-1))).isInstanceOf(InvalidArgument.class);
            return ctx.step("s", String.class, step -> "fine");
        });

        var run = trigger();

        assertThat(run.await(PATIENCE)).isEqualTo("fine");
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("s");
    }

    @Test
    @Proves("STEP-9")
    void a_value_that_cannot_be_stored_fails_the_run_and_is_not_tried_again() {
        var workflow = FAULTY.retry(quick(5));
        var executed = new AtomicInteger();
        startWorker(
                workflow,
                (ctx, where) -> where.equals("step")
                        ? ctx.step("make", Object.class, attempts(5), step -> unstorable(executed))
                        : unstorable(executed));

        for (var where : new String[] {"step", "output"}) {
            var error = failureOf(steadwork.workflow(workflow).trigger(where));
            assertThat(error.type()).isEqualTo(Serialization.class.getName());
        }
        assertThat(executed).hasValue(2);
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void an_input_that_cannot_be_read_fails_the_run_and_is_not_tried_again() {
        work((ctx, input) -> input);

        var run = steadwork.workflow("faulty").triggerBytes(new byte[] {1, 2, 3}, "application/json");

        assertThat(failureOf(run).type()).isEqualTo(Serialization.class.getName());
        assertThat(run.info().attempt()).isEqualTo(1);
        assertWorkerGoesOn();
    }

    @Test
    @Proves("STEP-9")
    void an_interrupt_that_user_code_leaves_behind_harms_neither_its_run_nor_the_next() {
        var seen = new AtomicBoolean();
        work((ctx, input) -> {
            seen.compareAndSet(false, Thread.currentThread().isInterrupted());
            ctx.run("interrupt", Thread.currentThread()::interrupt);
            ctx.run("after", () -> {});
            Thread.currentThread().interrupt();
            return input;
        });

        for (int i = 0; i < 5; i++) {
            var run = trigger();
            run.await(PATIENCE);
            assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
        }
        assertThat(seen).isFalse();
    }

    private void work(WorkflowHandler<String, Object> handler) {
        startWorker(FAULTY, handler);
    }

    private void startWorker(Workflow<String, Object> workflow, WorkflowHandler<String, Object> handler) {
        steadwork
                .worker()
                .concurrency(1)
                .handle(workflow, handler)
                .handle(HEALTHY, (ctx, input) -> ctx.step("greet", String.class, step -> "hello " + input))
                .start();
    }

    private RunHandle<Object> trigger() {
        return steadwork.workflow(FAULTY).trigger("x");
    }

    private void assertWorkerGoesOn() {
        assertThat(steadwork.workflow(HEALTHY).trigger("you").await(PATIENCE)).isEqualTo("hello you");
    }

    private void passUntilInterrupted(CompletableFuture<Boolean> interrupted) throws InterruptedException {
        try {
            gate.pass();
        } catch (InterruptedException heeded) {
            interrupted.complete(true);
            throw heeded;
        }
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    private static Object unstorable(AtomicInteger executed) {
        executed.incrementAndGet();
        return new Object() {
            @SuppressWarnings("unused")
            public String getBroken() {
                throw new UnsupportedOperationException();
            }
        };
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> Object sneak(Throwable error) throws E {
        throw (E) error;
    }

    private static final class OwnError extends Error {}

    private static final class Indescribable extends RuntimeException {
        @Override
        public String getMessage() {
            throw new UnsupportedOperationException();
        }

        @Override
        public String toString() {
            throw new UnsupportedOperationException();
        }
    }
}
