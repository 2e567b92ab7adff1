package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.awaitEnd;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.quick;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.ErrorCode;
import dev.steadwork.KeyPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BulkTest extends EngineTest {
    private static final Workflow<String, String> PAY =
            Workflow.define("pay", String.class, String.class).retry(quick(1));
    private static final Workflow<String, String> SHIP = Workflow.define("ship", String.class, String.class);

    /** More than two transactions' worth, and not a whole number of them. */
    private static final int MANY = 250;

    private final Gate gate = new Gate();
    private final AtomicInteger payments = new AtomicInteger();
    private volatile boolean broken = true;

    @BeforeEach
    void register() {
        steadwork.register(PAY, SHIP);
    }

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"RETRY-1", "CANCEL-1"})
    void all_waiting_runs_that_match_are_cancelled_and_no_others() {
        steadwork.workflow(PAY).delay(Duration.ofHours(1)).triggerAll(inputs(MANY));
        var pending = steadwork.workflow(PAY).trigger("x");
        var paused = steadwork.workflow(PAY).trigger("x");
        paused.pause();
        var other = steadwork.workflow(SHIP).trigger("x");
        var matching = steadwork.runs().type("pay");
        assertThat(matching.count()).isEqualTo(MANY + 2);

        assertThat(matching.cancelAll()).isEqualTo(MANY + 2);

        assertThat(matching.status(CANCELLED).count()).isEqualTo(MANY + 2);
        assertThat(List.of(pending.status(), paused.status())).containsOnly(CANCELLED);
        assertThat(other.status()).isEqualTo(PENDING);
        assertThat(matching.cancelAll()).as("again").isZero();
    }

    @Test
    @Proves({"RETRY-1", "CANCEL-1", "CANCEL-2"})
    void running_runs_are_asked_to_end_and_ended_ones_are_left_alone() throws InterruptedException {
        work(PAY, (ctx, input) -> {
            if (input.equals("slow")) {
                gate.pass();
            }
            return input;
        });
        var completed = steadwork.workflow(PAY).trigger("quick");
        completed.await(PATIENCE);
        var running = steadwork.workflow(PAY).trigger("slow");
        gate.awaitReached();

        assertThat(steadwork.runs().type("pay").cancelAll()).isEqualTo(1);

        awaitCancelled(running);
        assertThat(completed.status()).isEqualTo(COMPLETED);
    }

    @Test
    @Proves({"RETRY-1", "RESULT-1"})
    void those_who_wait_for_a_run_hear_that_it_was_cancelled() {
        var awaited = steadwork.workflow(PAY).delay(Duration.ofHours(1)).trigger("x");
        var end = awaited.future();

        steadwork.runs().type("pay").cancelAll();

        assertThat(end).failsWithin(PATIENCE);
    }

    @Test
    @Proves("RETRY-1")
    void all_failed_runs_that_match_go_on_at_once_from_where_they_failed() {
        startPaying();
        var runs = steadwork.workflow(PAY).triggerAll(inputs(MANY));
        runs.forEach(Runs::awaitEnd);
        var failed = steadwork.runs().status(FAILED).type("pay").errorContains("no money");
        assertThat(failed.count()).isEqualTo(MANY);
        broken = false;

        assertThat(failed.retryAll()).isEqualTo(MANY);

        runs.forEach(run -> assertThat(run.await(PATIENCE)).isEqualTo("paid"));
        assertThat(payments).as("payments, tried once and retried once each").hasValue(2 * MANY);
        assertThat(failed.retryAll()).as("again").isZero();
    }

    @Test
    @Proves("RETRY-1")
    void a_run_that_fails_again_meanwhile_is_not_retried_twice() {
        startPaying();
        var runs = steadwork.workflow(PAY).triggerAll(inputs(MANY));
        runs.forEach(Runs::awaitEnd);

        assertThat(steadwork.runs().status(FAILED).retryAll()).isEqualTo(MANY);

        runs.forEach(Runs::awaitEnd);
        runs.forEach(run -> awaitStatus(run, FAILED));
        assertThat(payments).hasValue(2 * MANY);
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    void a_run_whose_key_was_taken_is_left_alone() {
        startPaying();
        var keyed = steadwork.workflow(PAY).idempotencyKey("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var blocked = keyed.trigger("x");
        var free = steadwork.workflow(PAY).trigger("x");
        awaitEnd(blocked);
        awaitEnd(free);
        keyed.delay(Duration.ofHours(1)).trigger("x");
        broken = false;

        assertThat(steadwork.runs().type("pay").retryAll()).isEqualTo(1);

        assertThat(free.await(PATIENCE)).isEqualTo("paid");
        assertThat(blocked.status()).isEqualTo(FAILED);
    }

    @Test
    @Proves("RETRY-1")
    void only_failed_and_cancelled_runs_are_retried() {
        var sleeping = steadwork.workflow(PAY).delay(Duration.ofHours(1)).trigger("x");
        var cancelled = steadwork.workflow(PAY).trigger("x");
        cancelled.cancel();

        assertThat(steadwork.runs().type("pay").status(SLEEPING, RUNNING).retryAll())
                .isZero();
        assertThat(steadwork.runs().type("pay").retryAll()).isEqualTo(1);

        assertThat(sleeping.status()).isEqualTo(SLEEPING);
        assertThat(cancelled.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves({"RETRY-1", "DATA-4"})
    void all_runs_that_match_are_deleted_whatever_they_do() {
        steadwork.workflow(PAY).triggerAll(inputs(MANY));
        var sleeping = steadwork.workflow(PAY).delay(Duration.ofHours(1)).trigger("x");
        var cancelled = steadwork.workflow(PAY).trigger("x");
        cancelled.cancel();
        var other = steadwork.workflow(SHIP).trigger("x");
        var matching = steadwork.runs().type("pay");

        assertThat(matching.deleteAll("spring cleaning")).isEqualTo(MANY + 2);

        assertThat(matching.count()).isZero();
        assertThat(matching.withDeleted().count()).isEqualTo(MANY + 2);
        assertThat(sleeping.info().deletedReason()).isEqualTo("spring cleaning");
        assertThat(cancelled.info().deletedReason()).isEqualTo("spring cleaning");
        assertThat(other.info().times().deleted()).isNull();
        assertThat(matching.withDeleted().deleteAll("again")).isZero();
    }

    @Test
    @Proves({"RETRY-1", "DATA-3"})
    void a_query_without_a_filter_is_refused() {
        var run = steadwork.workflow(PAY).trigger("x");
        List<ToLongFunction<RunQuery>> changes =
                List.of(RunQuery::cancelAll, RunQuery::retryAll, all -> all.deleteAll("test"));

        for (var change : changes) {
            for (var all : List.of(steadwork.runs(), steadwork.runs().withDeleted())) {
                assertRefused(ErrorCode.INVALID_ARGUMENT, () -> change.applyAsLong(all), "filter", "status(...)");
            }
        }
        assertRefused(
                ErrorCode.INVALID_ARGUMENT, () -> steadwork.runs().type("pay").deleteAll(" "), "reason");
        assertThat(run.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("RETRY-1")
    void runs_of_other_namespaces_are_not_touched() {
        var elsewhere = open(settings -> settings.namespace("elsewhere"));
        elsewhere.register(PAY);
        var other = elsewhere.workflow(PAY).trigger("x");
        steadwork.workflow(PAY).trigger("x");

        assertThat(steadwork.runs().type("pay").cancelAll()).isEqualTo(1);

        assertThat(other.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves({"RETRY-1", "RUN-2"})
    void several_who_change_the_same_runs_count_each_run_once() throws Exception {
        steadwork.workflow(PAY).delay(Duration.ofHours(1)).triggerAll(inputs(MANY));

        var counts = AtOnce.call(4, i -> steadwork.runs().type("pay").cancelAll());

        assertThat(counts.stream().mapToLong(Long::longValue).sum()).isEqualTo(MANY);
    }

    @Test
    @Proves({"RETRY-1", "RUN-3"})
    void workers_go_on_while_many_runs_change() {
        work(SHIP, (ctx, input) -> ctx.step("go", String.class, step -> input));
        steadwork.workflow(PAY).delay(Duration.ofHours(1)).triggerAll(inputs(MANY));
        var change =
                CompletableFuture.supplyAsync(() -> steadwork.runs().type("pay").cancelAll());

        var ended = new ArrayList<RunHandle<String>>();
        do {
            var run = steadwork.workflow(SHIP).trigger("x");
            run.await(PATIENCE);
            ended.add(run);
        } while (!change.isDone());

        assertThat(change.join()).isEqualTo(MANY);
        assertThat(ended).extracting(RunHandle::status).containsOnly(RunStatus.COMPLETED);
    }

    private void startPaying() {
        work(PAY, (ctx, input) -> {
            ctx.run("pay", attempts(1), step -> {
                payments.incrementAndGet();
                if (broken) {
                    throw new IllegalStateException("no money");
                }
            });
            return "paid";
        });
    }

    private static List<String> inputs(int count) {
        return Collections.nCopies(count, "x");
    }
}
