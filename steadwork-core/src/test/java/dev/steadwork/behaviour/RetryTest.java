package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.awaitTwoHeartbeats;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RetryAfter;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);
    private static final Workflow<String, String> QUICK = ORDER.retry(quick(3));
    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicInteger executed = new AtomicInteger();

    @Test
    @Proves("STEP-7")
    void a_failing_step_is_tried_again_until_it_succeeds() {
        work(
                ORDER,
                (ctx, order) -> ctx.step("charge", String.class, attempts(5), step -> {
                    failIf(executed.incrementAndGet() < 3);
                    return "paid at attempt " + step.attempt();
                }));

        var run = trigger();

        assertThat(run.await(PATIENCE)).isEqualTo("paid at attempt 3");
        assertThat(executed).hasValue(3);
        assertThat(run.info().attempt()).isEqualTo(1);
        assertThat(run.info().error()).isNull();
    }

    @Test
    @Proves("STEP-7")
    void a_step_that_used_up_its_attempts_fails_the_run() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(3), step -> decline(executed.incrementAndGet()));
            return order;
        });

        var run = trigger();
        var error = failureOf(run);

        assertThat(executed).hasValue(3);
        assertThat(error.type()).isEqualTo(IOException.class.getName());
        assertThat(error.message()).isEqualTo("declined 3");
        assertThat(error.step()).isEqualTo("charge");
        assertThat(run.info().lastError()).isEqualTo("step charge: java.io.IOException: declined 3");
        assertThat(run.info().attempt()).isEqualTo(1);
        var charge = step(run, "charge");
        assertThat(charge.status()).isEqualTo(StepStatus.FAILED);
        assertThat(charge.attempt()).isEqualTo(3);
        assertThat(charge.error()).isEqualTo(error);
    }

    @Test
    @Proves("STEP-7")
    void a_handler_may_catch_a_failed_step_and_take_another_path() {
        work(ORDER, (ctx, order) -> {
            try {
                return ctx.step("charge-card", String.class, attempts(2), step -> decline(step.attempt()));
            } catch (StepFailedException declined) {
                return ctx.step("send-invoice", String.class, step -> "invoice, as " + declined.step() + " failed");
            }
        });

        assertThat(trigger().await(PATIENCE)).isEqualTo("invoice, as charge-card failed");
    }

    @Test
    @Proves("STEP-7")
    void a_failed_step_throws_the_same_again_on_replay_without_executing() {
        var caught = new CopyOnWriteArrayList<RunError>();
        work(ORDER, (ctx, order) -> {
            try {
                ctx.run("charge", attempts(2), step -> decline(executed.incrementAndGet()));
            } catch (StepFailedException failed) {
                caught.add(failed.error());
            }
            ctx.sleep("replay", Duration.ofMillis(1));
            return order;
        });

        trigger().await(PATIENCE);

        assertThat(executed).hasValue(2);
        assertThat(caught).hasSize(2);
        assertThat(caught.get(1)).isEqualTo(caught.get(0));
    }

    @Test
    @Proves("STEP-7")
    void a_permanent_failure_is_not_tried_again() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(5), step -> {
                executed.incrementAndGet();
                throw new PermanentFailure("card stolen");
            });
            return order;
        });

        assertThat(failureOf(trigger()).message()).isEqualTo("card stolen");
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("STEP-7")
    void non_retryable_types_and_their_subclasses_are_not_tried_again() {
        var policy = quick(5).withNonRetryable(IOException.class);
        work(ORDER, (ctx, order) -> {
            ctx.run("read", StepOptions.defaults().retry(policy), step -> {
                executed.incrementAndGet();
                throw new FileNotFoundException("gone");
            });
            return order;
        });

        assertThat(failureOf(trigger()).type()).isEqualTo(FileNotFoundException.class.getName());
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("STEP-7")
    void a_negative_number_of_attempts_means_endless() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(-1), step -> failIf(step.attempt() < 30));
            return order;
        });

        var run = trigger();
        run.await(PATIENCE);

        assertThat(step(run, "charge").attempt()).isEqualTo(30);
    }

    @Test
    @Proves("STEP-7")
    void the_wait_grows_by_the_coefficient() {
        var policy = RetryPolicy.defaults()
                .withInitialInterval(Duration.ofMillis(100))
                .withCoefficient(3)
                .withJitter(0);
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", StepOptions.defaults().retry(policy), step -> failIf(step.attempt() < 3));
            return order;
        });

        var run = trigger();
        run.await(PATIENCE);

        var charge = step(run, "charge");
        var failed = charge.failedAttempts();
        assertThat(Duration.between(failed.get(0).finishedAt(), failed.get(1).startedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(99));
        assertThat(Duration.between(failed.get(1).finishedAt(), charge.startedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(299));
    }

    @Test
    @Proves("STEP-7")
    void a_retry_after_wins_over_the_policy() {
        var hourly = StepOptions.defaults()
                .retry(RetryPolicy.defaults().withInitialInterval(HOUR).withMaxInterval(HOUR));
        work(ORDER, (ctx, order) -> {
            ctx.run("sooner", hourly, step -> retryAfter(step.attempt() == 1, Duration.ofMillis(10)));
            ctx.run("later", attempts(2), step -> retryAfter(step.attempt() == 1, Duration.ofMillis(1500)));
            return order;
        });

        var run = trigger();
        run.await(PATIENCE);

        var later = step(run, "later");
        assertThat(Duration.between(later.failedAttempts().get(0).finishedAt(), later.startedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(1499));
    }

    @Test
    @Proves("STEP-7")
    void a_retry_after_does_not_add_attempts() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(3), step -> {
                executed.incrementAndGet();
                retryAfter(true, Duration.ZERO);
            });
            return order;
        });

        assertThat(failureOf(trigger()).type()).isEqualTo(RetryAfter.class.getName());
        assertThat(executed).hasValue(3);
    }

    @Test
    @Proves("STEP-7")
    void a_long_wait_for_a_retry_gives_the_slot_back() {
        steadwork
                .worker()
                .concurrency(1)
                .handle(ORDER, (ctx, order) -> {
                    ctx.run("charge", step -> retryAfter(order.equals("slow"), HOUR));
                    return order;
                })
                .start();

        var slow = steadwork.workflow(ORDER).trigger("slow");
        awaitStatus(slow, SLEEPING);

        assertThat(steadwork.workflow(ORDER).trigger("fast").await(PATIENCE)).isEqualTo("fast");
        assertThat(slow.status()).isEqualTo(SLEEPING);
        assertThat(slow.info().lastError()).contains("busy");
        assertThat(step(slow, "charge").status()).isEqualTo(StepStatus.RETRYING);
        assertThat(slow.info().times().due()).isAfter(Instant.now().plus(HOUR).minusSeconds(300));
    }

    @Test
    @Proves("STEP-7")
    void attempts_go_on_counting_on_another_worker() {
        var seen = new CopyOnWriteArrayList<Integer>();
        var policy = RetryPolicy.defaults()
                .withMaxAttempts(3)
                .withInitialInterval(Duration.ofMillis(1100))
                .withJitter(0);
        for (int i = 0; i < 2; i++) {
            open(settings -> settings)
                    .worker()
                    .handle(ORDER, (ctx, order) -> {
                        ctx.run("charge", StepOptions.defaults().retry(policy), step -> {
                            seen.add(step.attempt());
                            decline(step.attempt());
                        });
                        return order;
                    })
                    .start();
        }

        failureOf(trigger());

        assertThat(seen).containsExactly(1, 2, 3);
    }

    @Test
    @Proves("STEP-7")
    void a_failure_outside_steps_enters_the_handler_again_with_finished_steps_kept() {
        var attempts = new CopyOnWriteArrayList<Integer>();
        work(QUICK, (ctx, order) -> {
            attempts.add(ctx.attempt());
            ctx.run("charge", executed::incrementAndGet);
            failIf(ctx.attempt() < 3);
            return order;
        });

        var run = steadwork.workflow(QUICK).trigger("o-1");
        run.await(PATIENCE);

        assertThat(executed).hasValue(1);
        assertThat(attempts).containsExactly(1, 2, 3);
        assertThat(run.info().attempt()).isEqualTo(3);
        assertThat(run.info().lastError()).isNull();
    }

    @Test
    @Proves("STEP-7")
    void a_handler_that_used_up_its_attempts_fails_the_run() {
        work(QUICK, (ctx, order) -> decline(executed.incrementAndGet()));

        var run = steadwork.workflow(QUICK).trigger("o-1");
        var error = failureOf(run);

        assertThat(executed).hasValue(3);
        assertThat(error.message()).isEqualTo("declined 3");
        assertThat(error.step()).isNull();
        assertThat(error.stackTrace()).contains("RetryTest");
        assertThat(run.info().attempt()).isEqualTo(3);
    }

    @Test
    @Proves({"STEP-7", "TRIG-8"})
    void a_triggers_own_policy_wins_over_the_workflows() {
        work(QUICK, (ctx, order) -> decline(executed.incrementAndGet()));

        failureOf(steadwork.workflow(QUICK).retry(quick(2)).trigger("o-1"));

        assertThat(executed).hasValue(2);
    }

    @Test
    @Proves("STEP-7")
    void a_handler_may_end_its_run_with_a_permanent_failure() {
        work(ORDER, (ctx, order) -> {
            executed.incrementAndGet();
            throw new PermanentFailure("no such order");
        });

        assertThat(failureOf(trigger()).message()).isEqualTo("no such order");
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("STEP-7")
    void the_workflows_non_retryable_types_are_not_tried_again() {
        var picky = ORDER.retry(quick(5).withNonRetryable(IOException.class));
        work(picky, (ctx, order) -> decline(executed.incrementAndGet()));

        failureOf(steadwork.workflow(picky).trigger("o-1"));

        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("STEP-7")
    void a_handlers_retry_after_holds_no_slot_and_tells_why_it_waits() {
        var worker = work(ORDER, (ctx, order) -> {
            retryAfter(ctx.attempt() == 1, HOUR);
            return order;
        });

        var run = trigger();
        awaitStatus(run, SLEEPING);

        await().atMost(PATIENCE).until(() -> worker.active() == 0);
        assertThat(run.info().attempt()).isEqualTo(2);
        assertThat(run.info().error().type()).isEqualTo(RetryAfter.class.getName());
    }

    @Test
    @Proves("STEP-7")
    void a_failed_attempt_counts_although_a_pause_was_asked_for() throws InterruptedException {
        var gate = new Gate();
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(1), step -> {
                executed.incrementAndGet();
                gate.passDeaf();
                failIf(true);
            });
            return order;
        });

        var run = trigger();
        gate.awaitReached();
        run.pause();
        awaitTwoHeartbeats(run);
        gate.open();
        awaitStatus(run, PAUSED);
        run.resume();

        failureOf(run);
        assertThat(executed).hasValue(1);
    }

    @Test
    @Proves("STEP-7")
    void runs_that_fail_do_not_disturb_those_that_succeed() {
        work(QUICK, (ctx, order) -> {
            ctx.run("charge", attempts(2), step -> failIf(order.equals("bad step") || step.attempt() == 1));
            failIf(order.equals("bad handler") || ctx.attempt() == 1);
            return order;
        });

        var runs = steadwork.workflow(QUICK).triggerAll(List.of("good", "bad step", "good", "bad handler", "good"));

        awaitStatus(runs.get(1), FAILED);
        awaitStatus(runs.get(3), FAILED);
        for (int good : new int[] {0, 2, 4}) {
            awaitStatus(runs.get(good), COMPLETED);
        }
    }

    private RunHandle<String> trigger() {
        return steadwork.workflow(ORDER).trigger("o-1");
    }

    private static void failIf(boolean broken) throws IOException {
        if (broken) {
            throw new IOException("broken");
        }
    }

    private static String decline(int attempt) throws IOException {
        throw new IOException("declined " + attempt);
    }

    private static void retryAfter(boolean busy, Duration wait) {
        if (busy) {
            throw new RetryAfter(wait, "busy");
        }
    }
}
