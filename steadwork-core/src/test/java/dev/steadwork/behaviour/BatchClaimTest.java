package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs that began at the same microsecond of the database were claimed by the same statement. */
class BatchClaimTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private final CountDownLatch release = new CountDownLatch(1);
    private final WorkflowHandler<String, String> waiting = (ctx, input) -> {
        release.await();
        return input;
    };

    @AfterEach
    void releaseHandlers() {
        release.countDown();
    }

    @Test
    @Proves({"CLAIM-1", "V8"})
    void one_claim_takes_as_many_runs_as_there_are_slots() {
        var runs = triggerMany(WORK, 30);

        steadwork.worker().concurrency(20).handle(WORK, waiting).start();

        await().atMost(PATIENCE).until(() -> steadwork.runs().status(RUNNING).count() == 20);
        assertThat(startTimes(runs.subList(0, 20))).hasSize(1);
        assertThat(runs.subList(20, 30)).extracting(RunHandle::status).containsOnly(PENDING);
    }

    @Test
    @Proves({"CLAIM-1", "V8"})
    void one_claim_takes_runs_from_all_queues_of_the_worker() {
        var workflows = List.of(
                Workflow.define("a", String.class, String.class),
                Workflow.define("b", String.class, String.class),
                Workflow.define("c", String.class, String.class));
        var runs = new ArrayList<RunHandle<String>>();
        workflows.forEach(workflow -> runs.addAll(triggerMany(workflow, 5)));

        var worker = steadwork.worker().concurrency(15);
        workflows.forEach(workflow -> worker.handle(workflow, waiting));
        worker.start();

        await().atMost(PATIENCE).until(() -> steadwork.runs().status(RUNNING).count() == 15);
        assertThat(startTimes(runs)).hasSize(1);
    }

    @Test
    @Proves({"CLAIM-1", "V8", "STEP-1"})
    void a_claim_brings_the_finished_steps_of_every_run() {
        var bodies = new AtomicInteger();
        steadwork
                .worker()
                .concurrency(50)
                .handle(WORK, (ctx, input) -> {
                    var first = ctx.step("first", Integer.class, step -> bodies.incrementAndGet());
                    var second = ctx.step("second", Integer.class, step -> bodies.incrementAndGet());
                    ctx.sleep("pause", Duration.ofMillis(100));
                    return first + "," + second + ","
                            + ctx.step("last", Integer.class, step -> bodies.incrementAndGet());
                })
                .start();

        var outputs =
                triggerMany(WORK, 50).stream().map(run -> run.await(PATIENCE)).toList();

        assertThat(bodies).hasValue(150);
        assertThat(outputs.stream().flatMap(output -> List.of(output.split(",")).stream()))
                .hasSize(150)
                .doesNotHaveDuplicates();
    }

    private static List<Instant> startTimes(List<RunHandle<String>> runs) {
        return runs.stream()
                .map(RunHandle::info)
                .map(RunInfo::startedAt)
                .distinct()
                .toList();
    }

    private List<RunHandle<String>> triggerMany(Workflow<String, String> workflow, int count) {
        steadwork.register(workflow);
        return steadwork.workflow(workflow).triggerAll(Collections.nCopies(count, "x"));
    }
}
