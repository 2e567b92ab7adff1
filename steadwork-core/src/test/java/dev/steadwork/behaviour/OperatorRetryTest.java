package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidState;
import dev.steadwork.KeyPolicy;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OperatorRetryTest extends EngineTest {
    private static final Workflow<String, String> ORDER =
            Workflow.define("order", String.class, String.class).retry(quick(2));

    private final Gate gate = new Gate();
    private final AtomicInteger charges = new AtomicInteger();
    private final AtomicInteger shipments = new AtomicInteger();
    private volatile boolean broken = true;

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"RETRY-1", "STEP-7", "RUN-2"})
    void a_failed_run_goes_on_from_its_last_checkpoint_and_executes_its_failed_step_again() {
        startWorker();
        var run = trigger();
        failureOf(run);
        assertThat(shipments).hasValue(3);

        broken = false;
        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("shipped o-1");
        assertThat(charges).hasValue(1);
        assertThat(shipments).hasValue(4);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("charge", "ship");
        assertThat(step(run, "ship").status()).isEqualTo(StepStatus.COMPLETED);
        assertThat(step(run, "ship").attempt()).isEqualTo(1);
        assertThat(run.info().error()).isNull();
    }

    @Test
    @Proves("RETRY-1")
    void a_retried_run_may_fail_again_after_all_its_attempts() {
        startWorker();
        var run = trigger();
        failureOf(run);

        run.retry();

        assertThat(failureOf(run).step()).isEqualTo("ship");
        assertThat(shipments).hasValue(6);
        assertThat(step(run, "ship").failedAttempts())
                .extracting(StepInfo.FailedAttempt::number)
                .containsExactly(1, 2);
    }

    @Test
    @Proves("RETRY-1")
    void a_handler_that_used_up_its_attempts_gets_all_of_them_again() {
        var seen = new CopyOnWriteArrayList<Integer>();
        work(ORDER, (ctx, order) -> {
            seen.add(ctx.attempt());
            failIf(seen.size() < 4);
            return order;
        });
        var run = trigger();
        failureOf(run);

        run.retry();

        run.await(PATIENCE);
        assertThat(seen).containsExactly(1, 2, 1, 2);
    }

    @Test
    @Proves({"RETRY-1", "RUN-5"})
    void a_retried_run_is_pending_and_as_if_it_had_not_ended() {
        var worker = steadwork
                .worker()
                .handle(ORDER, (ctx, order) -> {
                    failIf(true);
                    return order;
                })
                .start();
        var run = trigger();
        failureOf(run);
        worker.close();
        var failed = run.info();

        run.retry();

        var info = run.info();
        assertThat(info.status()).isEqualTo(PENDING);
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.error()).isNull();
        assertThat(info.finishedAt()).isNull();
        assertThat(info.startedAt()).isEqualTo(failed.startedAt());
        assertThat(info.createdAt()).isEqualTo(failed.createdAt());
        assertThat(info.lease().epoch()).isEqualTo(failed.lease().epoch());
        assertRefused(ErrorCode.INVALID_STATE, run::result, "PENDING");
    }

    @Test
    @Proves({"RETRY-1", "RUN-2"})
    void a_cancelled_run_can_be_retried() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", charges::incrementAndGet);
            ctx.run("wait", gate::pass);
            return order;
        });
        var run = trigger();
        gate.awaitReached();
        run.cancel();
        awaitCancelled(run);
        gate.open();

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("o-1");
        assertThat(charges).hasValue(1);
        assertThat(run.info().times().cancelRequested()).isNull();
    }

    @Test
    @Proves("RETRY-1")
    void a_terminated_run_can_be_retried() {
        steadwork.register(ORDER);
        var run = trigger();
        run.terminate("enough");

        run.retry();

        work(ORDER, (ctx, order) -> order);
        assertThat(run.await(PATIENCE)).isEqualTo("o-1");
        assertThat(run.info().error()).isNull();
    }

    @Test
    @Proves({"RETRY-1", "RUN-6"})
    void a_deadline_that_has_passed_does_not_fail_the_run_again() {
        broken = false;
        steadwork.register(ORDER);
        var run = steadwork.workflow(ORDER).deadline(Duration.ofMillis(1)).trigger("o-1");
        startWorker();
        assertThat(failureOf(run).type()).isEqualTo(RunError.DEADLINE_EXCEEDED);

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("shipped o-1");
        assertThat(run.info().times().deadline()).isNull();
    }

    @Test
    @Proves({"RETRY-1", "RUN-2"})
    void only_failed_and_cancelled_runs_can_be_retried() throws InterruptedException {
        steadwork
                .worker()
                .concurrency(1)
                .handle(ORDER, (ctx, order) -> {
                    if (order.equals("slow")) {
                        gate.pass();
                    }
                    return order;
                })
                .start();
        var completed = trigger();
        completed.await(PATIENCE);
        var sleeping = steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("o-1");
        var running = steadwork.workflow(ORDER).trigger("slow");
        gate.awaitReached();
        var pending = trigger();
        var paused = trigger();
        paused.pause();

        for (var run : List.of(completed, sleeping, running, pending, paused)) {
            var before = run.info();
            assertRefused(
                    ErrorCode.INVALID_STATE,
                    run::retry,
                    run.id().toString(),
                    before.status().name());
            assertThat(run.status()).isEqualTo(before.status());
        }
    }

    @Test
    @Proves({"RETRY-1", "DATA-4"})
    void a_deleted_run_cannot_be_retried() {
        startWorker();
        var run = trigger();
        failureOf(run);
        run.delete("cleaned up");

        assertRefused(ErrorCode.INVALID_STATE, run::retry, run.id().toString(), "deleted");
        assertThat(run.status()).isEqualTo(FAILED);
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    void a_run_whose_key_was_taken_meanwhile_cannot_be_retried_until_it_is_free_again() {
        startWorker();
        var keyed = steadwork.workflow(ORDER).idempotencyKey("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var first = keyed.trigger("o-1");
        failureOf(first);
        var failed = first.info();
        var second = keyed.delay(Duration.ofHours(1)).trigger("o-2");
        assertThat(second.alreadyExisted()).isFalse();

        assertRefused(ErrorCode.CONFLICT, first::retry, first.id().toString(), "key");
        assertThat(first.info()).isEqualTo(failed);
        assertThat(step(first, "ship").status()).isEqualTo(StepStatus.FAILED);

        broken = false;
        second.cancel();
        first.retry();
        assertThat(first.await(PATIENCE)).isEqualTo("shipped o-1");
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    void a_retried_run_holds_its_key_again() {
        steadwork.register(ORDER);
        var keyed = steadwork.workflow(ORDER).idempotencyKey("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var run = keyed.trigger("o-1");
        run.cancel();

        run.retry();

        var again = keyed.trigger("o-2");
        assertThat(again.alreadyExisted()).isTrue();
        assertThat(again.id()).isEqualTo(run.id());
    }

    @Test
    @Proves({"RETRY-1", "RUN-2"})
    void of_many_who_retry_a_run_at_once_one_does() throws Exception {
        startWorker();
        for (int race = 0; race < 5; race++) {
            var run = trigger();
            failureOf(run);
            int before = shipments.get();

            var successes = AtOnce.call(8, i -> retried(run)).stream()
                    .filter(did -> did)
                    .count();
            failureOf(run);

            assertThat(shipments.get() - before).isEqualTo(3 * (int) successes);
            assertThat(successes).isPositive();
        }
    }

    @Test
    @Proves("RETRY-1")
    void a_retried_run_sleeps_no_finished_sleep_again() {
        var entries = new AtomicInteger();
        work(ORDER, (ctx, order) -> {
            entries.incrementAndGet();
            ctx.sleep("nap", Duration.ofMillis(300));
            ctx.run("ship", attempts(1), step -> failIf(broken));
            return order;
        });
        var run = trigger();
        failureOf(run);
        var nap = step(run, "nap");
        broken = false;

        run.retry();

        run.await(PATIENCE);
        assertThat(entries).hasValue(3);
        assertThat(step(run, "nap")).isEqualTo(nap);
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    void a_failed_step_that_the_handler_caught_and_went_on_from_stays_failed() {
        startWorkerWithInvoices("ship");
        var run = trigger();
        assertThat(failureOf(run).step()).isEqualTo("ship");
        broken = false;

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("invoice");
        assertThat(charges).as("attempts of the card").hasValue(1);
        assertThat(step(run, "charge").status()).isEqualTo(StepStatus.FAILED);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("charge", "invoice", "ship");
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    void it_stays_failed_also_if_the_run_failed_outside_of_steps() {
        startWorkerWithInvoices("nothing");
        var run = trigger();
        assertThat(failureOf(run).step()).isNull();
        broken = false;

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("invoice");
        assertThat(charges).as("attempts of the card").hasValue(1);
        assertThat(step(run, "charge").status()).isEqualTo(StepStatus.FAILED);
    }

    /** Charges a card, or sends an invoice if that fails. */
    private void startWorkerWithInvoices(String alsoBroken) {
        work(ORDER, (ctx, order) -> {
            var paid = "card";
            try {
                ctx.run("charge", attempts(1), step -> {
                    charges.incrementAndGet();
                    failIf(broken);
                });
            } catch (StepFailedException noCard) {
                paid = ctx.step("invoice", String.class, step -> "invoice");
            }
            ctx.run("ship", attempts(1), step -> failIf(broken && alsoBroken.equals("ship")));
            failIf(broken);
            return paid;
        });
    }

    private static boolean retried(RunHandle<String> run) {
        try {
            run.retry();
            return true;
        } catch (InvalidState already) {
            return false;
        }
    }

    private void startWorker() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", charges::incrementAndGet);
            return ctx.step("ship", String.class, attempts(3), step -> {
                shipments.incrementAndGet();
                failIf(broken);
                return "shipped " + order;
            });
        });
    }

    private RunHandle<String> trigger() {
        return steadwork.workflow(ORDER).trigger("o-1");
    }

    private static void failIf(boolean broken) {
        if (broken) {
            throw new IllegalStateException("broken");
        }
    }
}
