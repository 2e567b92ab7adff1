package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunCancelledException;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ResultTest extends EngineTest {
    private static final Workflow<String, Receipt> ORDER = Workflow.define("order", String.class, Receipt.class);
    private static final Workflow<String, List<Receipt>> ORDERS =
            Workflow.define("orders", TypeRef.of(String.class), new TypeRef<>() {});
    private static final RunId UNKNOWN = new RunId(UUID.fromString("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e"));

    private final Gate gate = new Gate();

    record Receipt(String order, int total) {}

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves("RESULT-1")
    void a_finished_run_has_its_typed_output() {
        startWorker();
        var run = trigger("o-1");

        assertThat(run.await(PATIENCE)).isEqualTo(new Receipt("o-1", 3));
        assertThat(run.status()).isEqualTo(COMPLETED);
        assertThat(run.result()).isEqualTo(new Receipt("o-1", 3));
        assertThat(run.await(Duration.ofSeconds(5))).isEqualTo(new Receipt("o-1", 3));
        assertThat(run.future()).succeedsWithin(PATIENCE).isEqualTo(new Receipt("o-1", 3));
    }

    @Test
    @Proves("RESULT-1")
    void a_result_comes_although_the_common_pool_is_busy() {
        startWorker();
        var pool = ForkJoinPool.commonPool();
        var busy = new Semaphore(0); // unlike a future it does not make the pool grow
        IntStream.range(0, pool.getParallelism()).forEach(i -> pool.execute(busy::acquireUninterruptibly));

        try {
            assertThat(trigger("o-1").await(PATIENCE)).isEqualTo(new Receipt("o-1", 3));
        } finally {
            busy.release(pool.getParallelism());
        }
    }

    @Test
    @Proves("RESULT-1")
    void an_output_with_type_arguments_comes_back_as_it_was() {
        work(ORDERS, (ctx, order) -> List.of(new Receipt(order, 1), new Receipt(order, 2)));

        var receipts = steadwork.workflow(ORDERS).trigger("o").await(PATIENCE);

        assertThat(receipts).containsExactly(new Receipt("o", 1), new Receipt("o", 2));
    }

    @Test
    @Proves("RESULT-1")
    void a_handle_can_be_had_by_id_with_and_without_the_type() {
        startWorker();
        var id = trigger("o-1").id();

        assertThat(steadwork.run(id, ORDER).await(PATIENCE)).isEqualTo(new Receipt("o-1", 3));
        assertThat(steadwork.run(id).result()).isEqualTo(Map.of("order", "o-1", "total", 3));
        assertThat(steadwork.run(RunId.parse(id.toString())).status()).isEqualTo(COMPLETED);
    }

    @Test
    @Proves({"RESULT-1", "DATA-1"})
    void null_is_a_result() {
        work(ORDER, (ctx, order) -> null);
        var run = trigger("o-1");

        assertThat(run.await(PATIENCE)).isNull();
        assertThat(run.result()).isNull();
        assertThat(run.future()).succeedsWithin(PATIENCE).isNull();
    }

    @Test
    @Proves("RESULT-1")
    void there_is_no_result_while_the_run_has_not_ended() throws InterruptedException {
        startWorker();
        var waiting = steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("o-1");
        var running = trigger("slow");
        gate.awaitReached();

        assertRefused(ErrorCode.INVALID_STATE, waiting::result, waiting.id().toString(), "SLEEPING");
        assertRefused(ErrorCode.INVALID_STATE, running::result, running.id().toString(), "RUNNING");
    }

    @Test
    @Proves("RESULT-1")
    void a_failed_run_throws_its_stored_error() {
        startWorker();
        var run = trigger("bad");

        var awaited = catchThrowableOfType(RunFailedException.class, () -> run.await(PATIENCE));
        var asked = catchThrowableOfType(RunFailedException.class, run::result);

        assertThat(awaited.runId()).isEqualTo(run.id());
        assertThat(awaited.code()).isEqualTo(ErrorCode.RUN_FAILED);
        assertThat(awaited).hasMessageContainingAll(run.id().toString(), "no such order");
        assertThat(awaited.error().type()).isEqualTo(PermanentFailure.class.getName());
        assertThat(awaited.error())
                .isEqualTo(asked.error())
                .isEqualTo(run.info().error());
        assertThatThrownBy(() -> run.future().get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(RunFailedException.class);
    }

    @Test
    @Proves("RESULT-1")
    void a_cancelled_run_throws_too() {
        steadwork.register(ORDER);
        var run = trigger("o-1");
        var future = run.future();
        run.cancel();

        var cancelled = catchThrowableOfType(RunCancelledException.class, () -> run.await(PATIENCE));

        assertThat(cancelled.runId()).isEqualTo(run.id());
        assertRefused(ErrorCode.RUN_CANCELLED, run::result, run.id().toString());
        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(RunCancelledException.class);
    }

    @Test
    @Proves("RESULT-1")
    void an_await_that_times_out_says_so_and_the_run_goes_on() throws InterruptedException {
        startWorker();
        var run = trigger("slow");
        gate.awaitReached();

        assertRefused(
                ErrorCode.AWAIT_TIMEOUT,
                () -> run.await(Duration.ofMillis(50)),
                run.id().toString(),
                "PT0.05S");
        assertRefused(
                ErrorCode.AWAIT_TIMEOUT,
                () -> run.await(Duration.ZERO),
                run.id().toString());
        assertThat(run.status()).isEqualTo(RUNNING);
        gate.open();

        assertThat(run.await(PATIENCE)).isEqualTo(new Receipt("slow", 3));
    }

    @Test
    @Proves("RESULT-1")
    void a_timeout_may_be_longer_than_anyone_lives_but_not_negative() {
        startWorker();
        var run = trigger("o-1");

        assertRefused(ErrorCode.INVALID_ARGUMENT, () -> run.await(Duration.ofMillis(-1)), "timeout");
        assertThat(run.await(Duration.ofDays(36_500))).isEqualTo(new Receipt("o-1", 3));
    }

    @Test
    @Proves("RESULT-1")
    void an_interrupt_ends_the_wait_and_is_kept() throws Exception {
        steadwork.register(ORDER);
        var run = trigger("o-1");
        var interrupted = new CompletableFuture<Boolean>();
        var waiter = new Thread(() -> {
            try {
                run.await(PATIENCE);
            } catch (CancellationException ended) {
                interrupted.complete(Thread.currentThread().isInterrupted());
            }
        });
        waiter.start();

        waiter.interrupt();

        assertThat(interrupted).succeedsWithin(PATIENCE).isEqualTo(true);
        waiter.join();
    }

    @Test
    @Proves("RESULT-1")
    void cancelling_a_future_cancels_neither_the_run_nor_those_who_wait_beside_it() throws InterruptedException {
        startWorker();
        var run = trigger("slow");
        var other = run.future();
        gate.awaitReached();

        assertThat(run.future().cancel(true)).isTrue();
        gate.open();

        assertThat(other).succeedsWithin(PATIENCE).isEqualTo(new Receipt("slow", 3));
        assertThat(run.await(PATIENCE)).isEqualTo(new Receipt("slow", 3));
    }

    @Test
    @Proves({"RESULT-1", "CLAIM-7"})
    void a_result_arrives_without_waiting_for_a_poll() {
        var patient = open(settings -> settings.pollInterval(Duration.ofMinutes(5)));
        patient.worker().handle(ORDER, (ctx, order) -> new Receipt(order, 3)).start();

        for (int i = 0; i < 20; i++) {
            assertThat(patient.workflow(ORDER).trigger("o-" + i).await(PATIENCE))
                    .isEqualTo(new Receipt("o-" + i, 3));
        }
    }

    @Test
    @Proves("RESULT-1")
    void a_result_reaches_another_process() throws InterruptedException {
        startWorker();
        var elsewhere = open(settings -> settings);
        var run = trigger("slow");
        gate.awaitReached();

        var future = elsewhere.run(run.id(), ORDER).future();
        gate.open();

        assertThat(future).succeedsWithin(PATIENCE).isEqualTo(new Receipt("slow", 3));
    }

    @Test
    @Proves({"RESULT-1", "CLAIM-7"})
    void a_notification_brings_a_result_to_another_process() throws InterruptedException {
        assumeTrue(database == TestDatabase.POSTGRES);
        startWorker();
        var elsewhere = open(settings -> settings.pollInterval(Duration.ofMinutes(5)));
        var run = trigger("slow");
        gate.awaitReached();

        var future = elsewhere.run(run.id(), ORDER).future();
        assertThatThrownBy(() -> elsewhere.run(run.id()).await(Duration.ofMillis(200)));
        gate.open();

        assertThat(future).succeedsWithin(PATIENCE).isEqualTo(new Receipt("slow", 3));
    }

    @Test
    @Proves("RESULT-1")
    void many_results_can_be_waited_for_at_once() {
        startWorker();
        var names = IntStream.range(0, 500).mapToObj(i -> "o-" + i).toList();

        var futures = steadwork.workflow(ORDER).triggerAll(names).stream()
                .map(RunHandle::future)
                .toList();

        CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
        assertThat(futures).extracting(future -> future.join().order()).containsExactlyElementsOf(names);
    }

    @Test
    @Proves({"RESULT-1", "RETRY-1"})
    void a_retried_run_is_waited_for_anew() {
        work(ORDER, (ctx, order) -> {
            if (ctx.fencingToken() == 1) {
                throw new PermanentFailure("not yet");
            }
            return new Receipt(order, 3);
        });
        for (int race = 0; race < 50; race++) {
            var run = trigger("o-1");
            failureOf(run);

            run.retry();

            assertThat(run.await(PATIENCE)).as("result of race " + race).isEqualTo(new Receipt("o-1", 3));
        }
    }

    @Test
    @Proves({"RESULT-1", "STORE-3"})
    void an_unknown_run_has_no_result() {
        var unknown = steadwork.run(UNKNOWN);

        for (var call : List.<ThrowingCallable>of(
                unknown::status,
                unknown::info,
                unknown::input,
                unknown::steps,
                unknown::result,
                () -> unknown.await(PATIENCE))) {
            assertRefused(ErrorCode.NOT_FOUND, call, UNKNOWN.toString());
        }
        assertThatThrownBy(() -> unknown.future().get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(NotFound.class);
    }

    @Test
    @Proves("RESULT-1")
    void waiting_ends_when_the_engine_is_closed() {
        steadwork.register(ORDER);
        var elsewhere = open(settings -> settings);
        var run = elsewhere.run(trigger("o-1").id());
        var future = run.future();

        elsewhere.close();

        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(InvalidState.class);
        assertRefused(ErrorCode.INVALID_STATE, () -> run.await(PATIENCE), "closed");
    }

    @Test
    @Proves("RESULT-1")
    void a_handle_follows_its_run() throws InterruptedException {
        startWorker();
        var run = trigger("slow");
        gate.awaitReached();
        assertThat(run.status()).isEqualTo(RUNNING);
        assertThat(run.input()).hasToString("\"slow\"");

        gate.open();

        awaitStatus(run, COMPLETED);
    }

    private void startWorker() {
        work(ORDER, (ctx, order) -> {
            if (order.equals("bad")) {
                throw new PermanentFailure("no such order");
            }
            if (order.equals("slow")) {
                gate.pass();
            }
            return new Receipt(order, 3);
        });
    }

    private RunHandle<Receipt> trigger(String order) {
        return steadwork.workflow(ORDER).trigger(order);
    }
}
