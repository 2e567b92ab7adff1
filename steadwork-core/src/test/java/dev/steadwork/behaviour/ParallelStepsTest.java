package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidState;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RetryAfter;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunFailedException;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepInfo;
import dev.steadwork.StepOptions;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Steps that go on beside each other: STEP-8. */
class ParallelStepsTest extends EngineTest {
    private static final Workflow<Integer, Integer> SUM = Workflow.define("sum", Integer.class, Integer.class);

    @Test
    @Proves("STEP-8")
    void fifty_steps_execute_at_the_same_time() {
        var together = new CyclicBarrier(50);
        work(SUM, (ctx, count) -> {
            var promises = new ArrayList<Promise<Integer>>();
            for (int i = 1; i <= count; i++) {
                int number = i;
                promises.add(ctx.async("part", Integer.class, step -> {
                    together.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                    return number;
                }));
            }
            return sum(ctx.all(promises));
        });

        var run = steadwork.workflow(SUM).trigger(50);

        assertThat(run.await(PATIENCE)).isEqualTo(50 * 51 / 2);
        assertThat(run.steps())
                .hasSize(50)
                .allSatisfy(step -> assertThat(step.attempt()).isEqualTo(1));
    }

    @Test
    @Proves("STEP-8")
    void a_map_over_a_thousand_items_returns_results_in_the_order_of_the_items() {
        var busy = new AtomicInteger();
        var most = new AtomicInteger();
        work(SUM, (ctx, count) -> {
            var items = IntStream.range(0, count).boxed().toList();
            var squares = ctx.map("square", items, Integer.class, item -> {
                most.accumulateAndGet(busy.incrementAndGet(), Math::max);
                try {
                    return item * item;
                } finally {
                    busy.decrementAndGet();
                }
            });
            assertThat(squares)
                    .isEqualTo(items.stream().map(item -> item * item).toList());
            return squares.size();
        });

        assertThat(steadwork.workflow(SUM).trigger(1000).await(PATIENCE)).isEqualTo(1000);
        assertThat(most.get()).isLessThanOrEqualTo(16);
    }

    @Test
    @Proves("STEP-8")
    void one_failure_leaves_the_results_of_the_others_cached() {
        var executions = new AtomicInteger();
        var broken = new AtomicReference<>(true);
        work(SUM, (ctx, count) -> {
            var first = ctx.async("first", Integer.class, step -> executions.incrementAndGet());
            var second = ctx.async("second", Integer.class, step -> {
                if (broken.get()) {
                    throw new PermanentFailure("no");
                }
                return 10;
            });
            var third = ctx.async("third", Integer.class, step -> executions.incrementAndGet());
            return sum(ctx.all(List.of(first, second, third)));
        });
        var run = steadwork.workflow(SUM).trigger(3);
        assertThatThrownBy(() -> run.await(PATIENCE))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("no");

        broken.set(false);
        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo(1 + 2 + 10);
        assertThat(executions).hasValue(2);
    }

    @Test
    @Proves("STEP-8")
    void any_returns_the_first_success_and_a_replay_chooses_the_same() {
        var slow = new Gate();
        var chosen = new ArrayList<Integer>();
        work(SUM, (ctx, count) -> {
            var loser = ctx.async("slow", Integer.class, step -> {
                slow.pass();
                return 1;
            });
            var failing = ctx.async("failing", Integer.class, step -> {
                throw new PermanentFailure("never mind");
            });
            var winner = ctx.async("quick", Integer.class, step -> 2);
            int first = ctx.any(List.of(loser, failing, winner));
            chosen.add(first);
            slow.open();
            ctx.sleep("replay", Duration.ofMillis(10));
            return first;
        });

        assertThat(steadwork.workflow(SUM).trigger(3).await(PATIENCE)).isEqualTo(2);
        assertThat(chosen).containsExactly(2, 2);
    }

    @Test
    @Proves("STEP-8")
    void any_fails_with_the_first_failure_when_all_fail() {
        work(SUM, (ctx, count) -> {
            var one = ctx.async("one", Integer.class, step -> {
                throw new PermanentFailure("one failed");
            });
            var two = ctx.async("two", Integer.class, step -> {
                throw new PermanentFailure("two failed");
            });
            assertThatThrownBy(() -> ctx.any(List.of(one, two)))
                    .isInstanceOf(StepFailedException.class)
                    .hasMessageContaining("one failed");
            return 0;
        });

        assertThat(steadwork.workflow(SUM).trigger(0).await(PATIENCE)).isZero();
    }

    @Test
    @Proves("STEP-8")
    void identity_of_steps_does_not_depend_on_the_order_of_their_ends() {
        var last = new Gate();
        work(SUM, (ctx, count) -> {
            var first = ctx.async("part", Integer.class, step -> {
                last.pass();
                return 1;
            });
            var second = ctx.async("part", Integer.class, step -> {
                last.open();
                return 2;
            });
            var results = ctx.all(List.of(first, second));
            ctx.sleep("replay", Duration.ofMillis(10));
            return results.get(0) * 10 + results.get(1);
        });

        var run = steadwork.workflow(SUM).trigger(0);

        assertThat(run.await(PATIENCE)).isEqualTo(12);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("part", "part#2", "replay");
    }

    @Test
    @Proves("STEP-8")
    void a_long_retry_of_one_branch_frees_the_slot_and_repeats_no_other_branch() {
        var executions = new AtomicInteger();
        work(SUM, (ctx, count) -> {
            var steady = ctx.async("steady", Integer.class, step -> executions.incrementAndGet());
            var moody = ctx.async("moody", Integer.class, step -> {
                if (step.attempt() == 1) {
                    throw new RetryAfter(Duration.ofMillis(1500), "later");
                }
                return 10;
            });
            return sum(ctx.all(List.of(steady, moody)));
        });

        var run = steadwork.workflow(SUM).trigger(0);

        assertThat(run.await(PATIENCE)).isEqualTo(11);
        assertThat(executions).hasValue(1);
        assertThat(run.info().lease().epoch()).isEqualTo(2);
    }

    @Test
    void cancelling_interrupts_all_branches() {
        var started = new CyclicBarrier(3);
        var interrupted = new AtomicInteger();
        work(SUM, (ctx, count) -> {
            var promises = new ArrayList<Promise<Integer>>();
            for (int i = 0; i < 2; i++) {
                promises.add(ctx.async("endless", Integer.class, step -> {
                    started.await();
                    try {
                        new Gate().pass();
                    } catch (InterruptedException stopped) {
                        interrupted.incrementAndGet();
                        throw stopped;
                    }
                    return 0;
                }));
            }
            return sum(ctx.all(promises));
        });
        var run = steadwork.workflow(SUM).trigger(0);
        arrive(started);

        run.cancel();

        Runs.awaitCancelled(run);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(interrupted).hasValue(2));
    }

    @Test
    void a_promise_never_awaited_fails_the_run_and_says_what_to_write() {
        work(SUM, (ctx, count) -> {
            ctx.async("forgotten", Integer.class, step -> 1);
            return 0;
        });

        assertThatThrownBy(() -> steadwork.workflow(SUM).trigger(0).await(PATIENCE))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("'forgotten' was never awaited")
                .hasMessageContaining("get()");
    }

    @Test
    void a_durable_call_inside_a_branch_is_refused() {
        work(SUM, (ctx, count) -> {
            var outer = ctx.async("outer", Integer.class, step -> {
                assertThatThrownBy(() -> ctx.step("inner", Integer.class, inner -> 1))
                        .isInstanceOf(InvalidState.class)
                        .hasMessageContaining("'inner'")
                        .hasMessageContaining("inside a step");
                return 1;
            });
            return outer.get();
        });

        assertThat(steadwork.workflow(SUM).trigger(0).await(PATIENCE)).isEqualTo(1);
    }

    @Test
    void awaiting_inside_a_step_is_refused() {
        work(SUM, (ctx, count) -> {
            var promise = ctx.async("beside", Integer.class, step -> 1);
            ctx.run(
                    "waits",
                    () -> assertThatThrownBy(promise::get)
                            .isInstanceOf(InvalidState.class)
                            .hasMessageContaining("get() of promise 'beside'"));
            return promise.get();
        });

        assertThat(steadwork.workflow(SUM).trigger(0).await(PATIENCE)).isEqualTo(1);
    }

    private static int sum(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).sum();
    }

    private static void arrive(CyclicBarrier barrier) {
        try {
            barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Proves({"STEP-8", "LEASE-7"})
    void a_step_that_waits_for_its_next_attempt_when_its_worker_closes_goes_on_at_the_next()
            throws InterruptedException {
        var attempts = new AtomicInteger();
        var failed = new Gate();
        var quick = StepOptions.defaults()
                .retry(RetryPolicy.defaults()
                        .withInitialInterval(Duration.ofMillis(900))
                        .withJitter(0));
        WorkflowHandler<Integer, Integer> handler = (ctx, count) -> {
            Promise<Integer> mail = ctx.async("mail", Integer.class, quick, step -> {
                attempts.incrementAndGet();
                failed.open();
                if (step.attempt() == 1) {
                    throw new IllegalStateException("first");
                }
                return 1;
            });
            ctx.awaitEvent("approved", String.class, Duration.ofMinutes(9));
            return mail.get();
        };
        var first = work(SUM, handler);
        var run = steadwork.workflow(SUM).trigger(0);
        failed.pass();
        await().atMost(PATIENCE).until(() -> !run.steps().isEmpty());

        first.close();
        work(SUM, handler);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(attempts).hasValue(2));
    }
}
