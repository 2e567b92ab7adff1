package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.QueueLimit;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.Waiting.Reason;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.WorkerProcess;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Why is my run waiting? */
@Proves("OPS-2")
class WaitingTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final Workflow<String, String> OTHER = Workflow.define("other", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(GREET, OTHER);
    }

    @Test
    void for_a_worker_of_its_type() {
        var run = steadwork.workflow(GREET).trigger("Ada");
        assertWaits(run, Reason.NO_WORKER, "greet", "Start one");

        work(OTHER, (ctx, name) -> name);
        steadwork.worker().queue("elsewhere").handle(GREET, (ctx, name) -> name).start();
        steadwork.worker().version("v2").handle(GREET, (ctx, name) -> name).start();
        assertWaits(run, Reason.NO_WORKER);
    }

    @Test
    void for_another_worker_than_one_that_drains() throws InterruptedException {
        var gate = new Gate();
        var worker = steadwork
                .worker()
                .concurrency(1)
                .handle(GREET, (ctx, name) -> {
                    gate.pass();
                    return name;
                })
                .start();
        steadwork.workflow(GREET).trigger("Ada");
        gate.awaitReached();
        var run = steadwork.workflow(GREET).trigger("Bob");
        steadwork.workers().drain(worker.id());

        assertWaits(run, Reason.NO_WORKER, "1 that read the queue are draining");
        gate.open();
    }

    @Test
    void for_a_worker_that_is_not_busy() throws InterruptedException {
        var gate = new Gate();
        var executing = executing(gate);
        var next = steadwork.workflow(GREET).trigger("Bob");
        var last = steadwork.workflow(GREET).trigger("Cyd");

        assertThat(executing.waiting().reason()).isEqualTo(Reason.EXECUTING);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertWaits(next, Reason.WORKERS_BUSY, "first in queue greet", "1 of at most 1"));
        assertWaits(last, Reason.WORKERS_BUSY, "1 others in queue greet come first");
        gate.open();
        assertThat(last.await(PATIENCE)).isEqualTo("Cyd");
        assertWaits(last, Reason.ENDED, "COMPLETED");
    }

    private RunHandle<String> executing(Gate gate) throws InterruptedException {
        steadwork
                .worker()
                .concurrency(1)
                .handle(GREET, (ctx, name) -> {
                    gate.pass();
                    return name;
                })
                .start();
        var run = steadwork.workflow(GREET).trigger("Ada");
        gate.awaitReached();
        return run;
    }

    @Test
    void for_a_place_within_the_limit_of_its_queue() throws InterruptedException {
        var gate = new Gate();
        steadwork.queues().limit("greet", QueueLimit.concurrency(5).perKey(1));
        steadwork
                .worker()
                .concurrency(10)
                .handle(GREET, (ctx, name) -> {
                    gate.pass();
                    return name;
                })
                .start();
        steadwork.workflow(GREET).concurrencyKey("eu").trigger("Ada");
        gate.awaitReached();
        var run = steadwork.workflow(GREET).concurrencyKey("eu").trigger("Bob");

        assertWaits(run, Reason.QUEUE_LIMIT, "1 of 1 runs of key eu");
        steadwork.queues().limit("greet", QueueLimit.concurrency(1));
        assertWaits(run, Reason.QUEUE_LIMIT, "1 of 1 runs execute");
        gate.open();
        assertThat(run.await(PATIENCE)).isEqualTo("Bob");
    }

    @Test
    void for_the_rate_of_its_queue() {
        steadwork.queues().limit("greet", QueueLimit.none().rate(1, Duration.ofHours(1)));
        work(GREET, (ctx, name) -> name);
        steadwork.workflow(GREET).trigger("Ada").await(PATIENCE);

        assertWaits(steadwork.workflow(GREET).trigger("Bob"), Reason.QUEUE_LIMIT, "1 of 1 starts within PT1H");
    }

    @Test
    void for_its_start_time() {
        var run = steadwork.workflow(GREET).delay(Duration.ofHours(1)).trigger("Ada");

        assertWaits(run, Reason.START_TIME);
        assertThat(run.waiting().until()).isAfter(Instant.now().plusSeconds(3000));
    }

    @Test
    void for_what_its_handler_waits_for() {
        var child = Workflow.define("child", String.class, String.class);
        steadwork.register(child);
        work(GREET.retry(RetryPolicy.defaults().withInitialInterval(Duration.ofHours(1))), (ctx, what) -> {
            switch (what) {
                case "sleep" -> ctx.sleep("cooling-off", Duration.ofHours(1));
                case "signal" -> ctx.awaitEvent("approved", String.class, Duration.ofHours(1));
                case "child" -> ctx.child(child, what).get();
                default -> throw new IllegalStateException("out of ink");
            }
            return what;
        });

        assertSleeps("sleep", Reason.SLEEP, "cooling-off");
        assertSleeps("signal", Reason.SIGNAL, "approved");
        assertSleeps("child", Reason.CHILD, "child");
        assertSleeps("fail", Reason.RETRY, "out of ink");
    }

    private void assertSleeps(String input, Reason reason, String says) {
        var run = steadwork.workflow(GREET).trigger(input);
        Runs.awaitStatus(run, RunStatus.SLEEPING);
        assertWaits(run, reason, says);
    }

    @Test
    void for_an_operator() {
        var paused = steadwork.workflow(GREET).trigger("Ada");
        paused.pause();
        var deleted = steadwork.workflow(GREET).trigger("Ada");
        deleted.delete("a mistake");

        assertWaits(paused, Reason.PAUSED, "resume()");
        assertWaits(deleted, Reason.DELETED, "a mistake");
        steadwork.namespaces().create("default", n -> {});
        var run = steadwork.workflow(GREET).trigger("Bob");
        steadwork.namespaces().disable("default");
        assertWaits(run, Reason.NAMESPACE_DISABLED, "default");
    }

    @Test
    void for_another_worker_after_its_own_was_lost() {
        var lonely = open(s -> s.lease(Duration.ofSeconds(2)));
        RunHandle<List<Long>> run;
        try (var process = WorkerProcess.start(url, Duration.ofSeconds(2))) {
            run = lonely.workflow(Script.SCRIPT).trigger(List.of("hold on"));
            process.report().awaitLine("started on " + run.id());
            process.kill();
        }
        var lost = run;

        await().atMost(PATIENCE).untilAsserted(() -> assertWaits(lost, Reason.WORKER_LOST, "takes the run over"));
    }

    @Test
    void nothing_is_known_of_a_run_that_does_not_exist() {
        var nobody = RunId.parse("01a1e2a4-e059-7000-8bb7-ea5f3b7d5004");

        assertRefused(NOT_FOUND, () -> steadwork.run(nobody).waiting());
    }

    private static void assertWaits(RunHandle<?> run, Reason reason, String... says) {
        var waiting = run.waiting();
        assertThat(waiting.reason()).as(waiting.sentence()).isEqualTo(reason);
        assertThat(List.of(says))
                .allSatisfy(part -> assertThat(waiting.sentence()).contains(part));
    }
}
