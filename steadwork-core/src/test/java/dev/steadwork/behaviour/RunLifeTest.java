package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitEnd;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.ErrorCode;
import dev.steadwork.KeyPolicy;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunLifeTest extends EngineTest {
    private static final Workflow<String, String> ORDER =
            Workflow.define("order", String.class, String.class).retry(quick(3));

    private final Gate gate = new Gate();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves({"RUN-1", "TRIG-8"})
    void a_new_run_has_all_that_its_trigger_said() {
        steadwork.register(ORDER);
        var deadline = Instant.parse("2999-01-01T00:00:00.123456Z");

        var run = steadwork
                .workflow(ORDER)
                .queue("express")
                .priority(7)
                .retry(quick(9).withNonRetryable(IllegalStateException.class))
                .version("v2")
                .externalId("shop-17")
                .idempotencyKey("order-17")
                .keyPolicy(KeyPolicy.WHILE_ACTIVE)
                .deadline(deadline)
                .tag("customer", "42")
                .tag("region", "")
                .trigger("o-17");

        var info = run.info();
        assertThat(info.id()).isEqualTo(run.id());
        assertThat(info.id().uuid().version()).isEqualTo(7);
        assertThat(info.namespace()).isEqualTo("default");
        assertThat(info.type()).isEqualTo("order");
        assertThat(info.queue()).isEqualTo("express");
        assertThat(info.status()).isEqualTo(PENDING);
        assertThat(info.priority()).isEqualTo(7);
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.retry()).isEqualTo(quick(9).withNonRetryable(IllegalStateException.class));
        assertThat(info.version()).isEqualTo("v2");
        assertThat(info.externalId()).isEqualTo("shop-17");
        assertThat(info.idempotencyKey()).isEqualTo("order-17");
        assertThat(info.keyPolicy()).isEqualTo(KeyPolicy.WHILE_ACTIVE);
        assertThat(info.times().deadline()).isEqualTo(deadline);
        assertThat(info.tags()).containsOnly(Map.entry("customer", "42"), Map.entry("region", ""));
        assertThat(run.input()).hasToString("\"o-17\"");
    }

    @Test
    @Proves("RUN-1")
    void a_new_run_has_defaults_where_its_trigger_said_nothing() {
        steadwork.register(ORDER);

        var info = steadwork.workflow(ORDER).trigger("o-1").info();

        assertThat(info.queue()).isEqualTo("order");
        assertThat(info.priority()).isZero();
        assertThat(info.retry()).isEqualTo(quick(3));
        assertThat(info.version()).isNull();
        assertThat(info.externalId()).isNull();
        assertThat(info.idempotencyKey()).isNull();
        assertThat(info.parent()).isNull();
        assertThat(info.tags()).isEmpty();
        assertThat(info.error()).isNull();
        assertThat(info.lastError()).isNull();
        assertThat(info.runningStep()).isNull();
        assertThat(info.deletedReason()).isNull();
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, 0, 0));
        var created = info.createdAt();
        assertThat(info.times())
                .isEqualTo(new RunInfo.Times(created, null, null, null, created, created, null, null, null, null));
        assertThat(created)
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(1));
    }

    @Test
    @Proves("RUN-1")
    void a_running_run_tells_who_holds_it_and_until_when() throws InterruptedException {
        var worker = startWorker();

        var run = trigger("slow");
        gate.awaitReached();

        var info = run.info();
        assertThat(info.status()).isEqualTo(RUNNING);
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(worker.id(), 1, 0));
        assertThat(info.times().due()).isAfter(info.startedAt());
        assertThat(info.finishedAt()).isNull();
    }

    @Test
    @Proves("RUN-1")
    void an_ended_run_tells_when_it_ended_and_is_held_by_nobody() {
        startWorker();

        var run = trigger("good");
        run.await(PATIENCE);

        var info = run.info();
        assertThat(info.status()).isEqualTo(COMPLETED);
        assertThat(info.finishedAt()).isBetween(info.startedAt(), info.times().updated());
        assertThat(info.startedAt()).isAfterOrEqualTo(info.createdAt());
        assertThat(info.times().due()).isNull();
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, 1, 0));
    }

    @Test
    @Proves("RUN-1")
    void a_failed_run_has_a_structured_error_and_one_line_of_it() {
        startWorker();

        var run = trigger("bad");
        failureOf(run);

        var error = run.info().error();
        assertThat(error.type()).isEqualTo(PermanentFailure.class.getName());
        assertThat(error.message()).isEqualTo("first line\nsecond line");
        assertThat(error.stackTrace()).contains("RunLifeTest");
        assertThat(run.info().lastError())
                .startsWith(PermanentFailure.class.getName() + ": first line")
                .hasLineCount(1);
    }

    @Test
    @Proves({"RUN-1", "DATA-4"})
    void a_deleted_run_tells_when_and_why() {
        steadwork.register(ORDER);
        var run = trigger("good");

        run.delete("made by mistake");

        assertThat(run.info().deletedReason()).isEqualTo("made by mistake");
        assertThat(run.info().times().deleted()).isNotNull();
    }

    @Test
    @Proves("RUN-2")
    void what_a_status_does_not_allow_is_refused_and_changes_nothing() throws InterruptedException {
        var runs = oneRunPerStatus();
        var ended = Set.of(COMPLETED, FAILED, CANCELLED);

        for (var status : RunStatus.values()) {
            var run = runs.get(status);
            assertThat(run.status()).isEqualTo(status);
            if (ended.contains(status)) {
                assertRefusedBecauseOf(status, run, run::pause);
                assertRefusedBecauseOf(status, run, run::resume);
                assertRefusedBecauseOf(status, run, () -> run.terminate("late"));
            }
            if (status == COMPLETED || status == FAILED) {
                assertRefusedBecauseOf(status, run, run::cancel);
            }
            if (status != FAILED && status != CANCELLED) {
                assertRefusedBecauseOf(status, run, run::retry);
            }
            if (!ended.contains(status)) {
                assertRefusedBecauseOf(status, run, run::result);
            }
        }
    }

    @Test
    @Proves("RUN-2")
    void the_database_itself_refuses_an_unknown_status() throws SQLException {
        steadwork.register(ORDER);
        trigger("good");
        var table = database == TestDatabase.POSTGRES ? "steadwork.run" : "steadwork_run";

        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.executeUpdate("UPDATE " + table + " SET status = 'LOST'"))
                    .isInstanceOf(SQLException.class);
        }
    }

    @Test
    @Proves("RUN-3")
    void every_accepted_run_ends_whichever_workers_come_and_go() {
        startRestlessWorker();
        var inputs = IntStream.range(0, 60)
                .mapToObj(i -> i % 6 == 0 ? "bad" : "flaky")
                .toList();
        var runs = steadwork.workflow(ORDER).triggerAll(inputs);

        for (int i = 0; i < 4; i++) {
            var leaving = startRestlessWorker();
            awaitEnd(runs.get(i * 10));
            leaving.close();
        }

        for (int i = 0; i < runs.size(); i++) {
            awaitEnd(runs.get(i));
            assertThat(runs.get(i).status()).isEqualTo(i % 6 == 0 ? FAILED : COMPLETED);
        }
    }

    @Test
    @Proves("RUN-4")
    void a_new_workflow_type_adds_neither_tables_nor_columns() throws SQLException {
        var before = columns();

        for (int i = 0; i < 5; i++) {
            var another = Workflow.define("another-" + i, Integer.class, Integer.class);
            work(another, (ctx, input) -> ctx.step("double", int.class, step -> input * 2));
            assertThat(steadwork.workflow(another).trigger(i).await(PATIENCE)).isEqualTo(2 * i);
        }

        assertThat(columns()).isEqualTo(before).isNotEmpty();
    }

    @Test
    @Proves("RUN-5")
    void the_time_of_the_first_start_is_kept_when_the_run_is_claimed_again() {
        work(ORDER, (ctx, order) -> {
            ctx.awaitEvent("go", String.class, PATIENCE);
            if (ctx.attempt() == 1) {
                throw new IllegalStateException("once more");
            }
            return ctx.now() + " " + ctx.fencingToken();
        });
        var run = trigger("good");
        awaitStatus(run, SLEEPING);
        var firstStart = run.info().startedAt();

        run.signal("go", "now");
        run.await(PATIENCE);

        assertThat(run.info().startedAt()).isEqualTo(firstStart);
        assertThat(run.info().lease().epoch()).isEqualTo(3);
    }

    @Test
    @Proves("RUN-5")
    void the_time_of_the_end_is_set_once() throws InterruptedException {
        var runs = oneRunPerStatus();

        for (var status : RunStatus.values()) {
            var run = runs.get(status);
            if (status.isTerminal()) {
                var finished = run.info().finishedAt();
                assertThat(finished).isNotNull();
                assertRefusedBecauseOf(status, run, run::pause);
                run.delete("cleaned up");
                assertThat(run.info().finishedAt()).isEqualTo(finished);
            } else {
                assertThat(run.info().finishedAt()).isNull();
            }
        }
    }

    private Map<RunStatus, RunHandle<String>> oneRunPerStatus() throws InterruptedException {
        startWorker();
        var runs = new EnumMap<RunStatus, RunHandle<String>>(RunStatus.class);
        runs.put(COMPLETED, trigger("good"));
        runs.put(FAILED, trigger("bad"));
        awaitEnd(runs.get(COMPLETED));
        awaitEnd(runs.get(FAILED));
        runs.put(RUNNING, trigger("slow"));
        gate.awaitReached();
        runs.put(PENDING, trigger("waits for the slot"));
        runs.put(SLEEPING, steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("later"));
        runs.put(PAUSED, trigger("stopped"));
        runs.get(PAUSED).pause();
        runs.put(CANCELLED, trigger("ended"));
        runs.get(CANCELLED).cancel();
        return runs;
    }

    /** A worker with a single slot, which the input "slow" takes. */
    private Worker startWorker() {
        return steadwork
                .worker()
                .concurrency(1)
                .handle(ORDER, (ctx, order) -> {
                    if (order.equals("bad")) {
                        throw new PermanentFailure("first line\nsecond line");
                    }
                    if (order.equals("slow")) {
                        ctx.run("wait", gate::pass);
                    }
                    return order;
                })
                .start();
    }

    private Worker startRestlessWorker() {
        return open(settings -> settings)
                .worker()
                .concurrency(4)
                .handle(ORDER, (ctx, order) -> {
                    for (int i = 0; i < 5; i++) {
                        ctx.run(
                                "step",
                                attempts(-1),
                                step -> failIf(ThreadLocalRandom.current().nextInt(5) == 0));
                        ctx.sleep(
                                "nap",
                                Duration.ofMillis(ThreadLocalRandom.current().nextInt(30)));
                    }
                    failIf(order.equals("bad") || ctx.attempt() == 1);
                    return order;
                })
                .start();
    }

    private RunHandle<String> trigger(String order) {
        return steadwork.workflow(ORDER).trigger(order);
    }

    private static void assertRefusedBecauseOf(RunStatus status, RunHandle<String> run, ThrowingCallable call) {
        assertRefused(ErrorCode.INVALID_STATE, call, run.id().toString(), status.name());
        assertThat(run.status()).isEqualTo(status);
    }

    private Set<String> columns() throws SQLException {
        var columns = new TreeSet<String>();
        try (var connection = DriverManager.getConnection(url);
                var found = connection.getMetaData().getColumns(null, null, "%", "%")) {
            while (found.next()) {
                columns.add(found.getString("TABLE_NAME") + "." + found.getString("COLUMN_NAME"));
            }
        }
        return columns;
    }

    private static void failIf(boolean broken) {
        if (broken) {
            throw new IllegalStateException("broken");
        }
    }
}
