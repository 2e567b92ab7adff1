package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.TestDatabase;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ShutdownTest extends FaultTest {
    /** Longer than any test waits: whoever goes on with a run was handed it. */
    private static final Duration LONG_LEASE = PATIENCE.multipliedBy(2);

    private final Report closing = new Report();
    private final Script script = new Script(closing::add);
    private final Report going = new Report();

    @Test
    @Proves("LEASE-7")
    void a_closing_worker_keeps_the_step_it_is_in_and_leaves_the_rest_to_others() {
        var worker = startWorker(LONG_LEASE, Duration.ofMinutes(1));
        var run = playHeld("step charge", "hold ship", "step thank");
        var closed = inThread(worker::close);
        awaitDraining();

        assertThat(closed).isNotDone();
        script.go();
        assertThat(closed).succeedsWithin(PATIENCE);
        work(SCRIPT, new Script(going::add));
        run.await(PATIENCE);

        assertThat(closing.linesOf("started")).containsExactly("charge " + run.id(), "ship " + run.id());
        assertThat(going.linesOf("started")).containsExactly("thank " + run.id());
        assertHandedBack(run);
    }

    @Test
    @Proves("LEASE-7")
    void a_closing_worker_claims_nothing() {
        var worker = startWorker(LONG_LEASE, Duration.ofMinutes(1));
        playHeld("hold ship");
        var closed = inThread(worker::close);
        awaitDraining();

        var late = play("step charge");
        script.go();
        assertThat(closed).succeedsWithin(PATIENCE);

        assertThat(late.status()).isEqualTo(RunStatus.PENDING);
        assertThat(late.info().lease().epoch()).isZero();
    }

    @Test
    @Proves({"LEASE-7", "LEASE-2"})
    void a_closing_worker_keeps_its_leases_alive_until_its_steps_have_ended() {
        var lease = Duration.ofMillis(1500);
        var worker = startWorker(lease, Duration.ofMinutes(1));
        var run = playHeld("hold ship");
        var closed = inThread(worker::close);
        awaitDraining();
        work(SCRIPT, new Script(going::add));

        var end = run.info().times().due().plus(lease);
        await().atMost(PATIENCE).until(() -> run.info().times().due().isAfter(end));
        script.go();
        assertThat(closed).succeedsWithin(PATIENCE);
        run.await(PATIENCE);

        assertThat(going.linesOf("started")).isEmpty();
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves("LEASE-7")
    void when_the_drain_timeout_is_over_a_step_is_interrupted_and_its_run_handed_back() {
        var worker = startWorker(LONG_LEASE, Duration.ofMillis(100));
        var run = playHeld("step charge", "hold ship");

        worker.close();
        assertThat(closing.linesOf("left")).hasSize(1);
        var next = new Script(going::add);
        next.go();
        work(SCRIPT, next);
        run.await(PATIENCE);

        assertThat(going.linesOf("started")).containsExactly("ship " + run.id());
        assertThat(run.steps()).flatExtracting(StepInfo::failedAttempts).isEmpty();
        assertHandedBack(run);
    }

    @Test
    @Proves({"LEASE-7", "LEASE-3", "STEP-4"})
    void a_step_that_ignores_its_interrupt_is_handed_back_all_the_same_and_its_result_refused() {
        var deaf = Workflow.define("deaf", Void.class, String.class);
        var go = new CountDownLatch(1);
        var ended = new CountDownLatch(1);
        var worker = open(settings -> settings.lease(LONG_LEASE))
                .worker()
                .handle(
                        deaf,
                        (ctx, nothing) -> ctx.step("ship", String.class, step -> {
                            awaitUninterruptibly(go);
                            ended.countDown();
                            return "late";
                        }))
                .drainTimeout(Duration.ofMillis(100))
                .start();
        var run = steadwork.workflow(deaf).trigger(null);
        awaitStatus(run, RunStatus.RUNNING);

        worker.close();
        work(
                deaf,
                (ctx, nothing) -> ctx.step("ship", String.class, step -> {
                    go.countDown();
                    awaitUninterruptibly(ended);
                    return "in time";
                }));

        assertThat(run.await(PATIENCE)).isEqualTo("in time");
        assertHandedBack(run);
    }

    @Test
    @Proves("LEASE-7")
    @DisabledOnOs(OS.WINDOWS) // it cannot ask a process to end
    void a_process_that_is_asked_to_end_drains_its_worker() {
        var process = startProcess(LONG_LEASE);
        var run = play("step charge", "hold ship", "step thank");
        process.report().awaitLine("started ship " + run.id());

        process.terminate();
        awaitDraining();
        process.go();
        process.awaitEnd();
        work(SCRIPT, new Script(going::add));
        run.await(PATIENCE);

        assertThat(process.report().linesOf("started")).containsExactly("charge " + run.id(), "ship " + run.id());
        assertThat(going.linesOf("started")).containsExactly("thank " + run.id());
        assertHandedBack(run);
    }

    @Test
    @Proves("LEASE-7")
    void join_blocks_until_the_worker_has_ended() {
        var worker = startWorker(LONG_LEASE, Duration.ofMinutes(1));
        playHeld("hold ship");
        var joined = inThread(worker::join);
        var closed = inThread(worker::close);
        awaitDraining();

        assertThat(joined).isNotDone();
        script.go();

        assertThat(joined).succeedsWithin(PATIENCE);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertThat(worker.active()).isZero();
        worker.close();
    }

    /** On a thread of its own: the common pool may have only one, which a call that blocks would keep to itself. */
    private static CompletableFuture<Void> inThread(Runnable call) {
        return CompletableFuture.runAsync(call, task -> new Thread(task).start());
    }

    private Worker startWorker(Duration lease, Duration drainTimeout) {
        return open(settings -> settings.lease(lease))
                .worker()
                .handle(SCRIPT, script)
                .drainTimeout(drainTimeout)
                .start();
    }

    private RunHandle<List<Long>> playHeld(String... acts) {
        var run = play(acts);
        closing.awaitLine("started ship " + run.id());
        return run;
    }

    private static void assertHandedBack(RunHandle<?> run) {
        assertThat(run.info().lease().lost()).isZero();
        assertThat(run.info().attempt()).isEqualTo(1);
        assertThat(run.info().error()).isNull();
        assertThat(run.info().status()).isEqualTo(RunStatus.COMPLETED);
    }

    private void awaitDraining() {
        await().atMost(PATIENCE).ignoreExceptions().until(() -> workerStatus().equals("DRAINING"));
    }

    private String workerStatus() throws SQLException {
        var sql = database == TestDatabase.POSTGRES
                ? "SELECT status FROM steadwork.worker"
                : "SELECT status FROM steadwork_worker";
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                latch.await();
                done = true;
            } catch (InterruptedException ignored) {
                // the point of it
            }
        }
    }
}
