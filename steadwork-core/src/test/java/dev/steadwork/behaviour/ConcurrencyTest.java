package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class ConcurrencyTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);
    private static final Workflow<String, String> HEAVY = Workflow.define("heavy", String.class, String.class);
    private static final Duration LONG_LEASE = Duration.ofMinutes(5);

    @Test
    @Proves("V1")
    void a_worker_never_executes_more_runs_than_it_has_slots() {
        var gauge = new Gauge();
        steadwork
                .worker()
                .concurrency(10)
                .handle(
                        WORK,
                        (ctx, input) -> gauge.around(() -> {
                            ctx.run("work", () -> TimeUnit.MILLISECONDS.sleep(50));
                            return input;
                        }))
                .start();

        triggerMany(WORK, 100).forEach(run -> run.await(PATIENCE));

        assertThat(gauge.highest()).isBetween(2, 10);
    }

    @Test
    @Proves("CLAIM-1")
    void all_slots_of_a_worker_are_used_at_the_same_time() {
        var together = new CyclicBarrier(8);
        steadwork
                .worker()
                .concurrency(8)
                .handle(WORK, (ctx, input) -> {
                    together.await(30, TimeUnit.SECONDS);
                    return input;
                })
                .start();

        assertThat(triggerMany(WORK, 40)).extracting(run -> run.await(PATIENCE)).containsOnly("x");
    }

    @Test
    @Proves("CLAIM-1")
    void a_limit_of_one_workflow_holds_and_leaves_the_other_slots_free() throws InterruptedException {
        var gauge = new Gauge();
        var bothTaken = new CountDownLatch(2);
        var release = new CountDownLatch(1);
        steadwork
                .worker()
                .concurrency(6)
                .concurrency(HEAVY, 2)
                .handle(WORK, (ctx, input) -> input)
                .handle(
                        HEAVY,
                        (ctx, input) -> gauge.around(() -> {
                            bothTaken.countDown();
                            release.await();
                            return input;
                        }))
                .start();
        var heavy = triggerMany(HEAVY, 10);
        bothTaken.await();

        triggerMany(WORK, 30).forEach(run -> run.await(PATIENCE));
        release.countDown();
        heavy.forEach(run -> run.await(PATIENCE));

        assertThat(gauge.highest()).isEqualTo(2);
    }

    @Test
    @Proves("CLAIM-1")
    void limited_workflows_together_stay_within_the_slots_of_the_worker() {
        var gauge = new Gauge();
        steadwork
                .worker()
                .concurrency(3)
                .concurrency(HEAVY, 2)
                .concurrency(WORK, 2)
                .handle(WORK, (ctx, input) -> gauge.around(() -> work(ctx, input)))
                .handle(HEAVY, (ctx, input) -> gauge.around(() -> work(ctx, input)))
                .start();

        var runs = new ArrayList<>(triggerMany(HEAVY, 20));
        runs.addAll(triggerMany(WORK, 20));
        runs.forEach(run -> run.await(PATIENCE));

        assertThat(gauge.highest()).isLessThanOrEqualTo(3);
    }

    @Test
    @Proves("CLAIM-1")
    void a_worker_tells_how_many_runs_it_executes() throws InterruptedException {
        var started = new CountDownLatch(3);
        var release = new CountDownLatch(1);
        var worker = work(WORK, (ctx, input) -> {
            started.countDown();
            release.await();
            return input;
        });
        assertThat(worker.active()).isZero();

        var runs = triggerMany(WORK, 3);
        started.await();

        assertThat(worker.active()).isEqualTo(3);
        release.countDown();
        runs.forEach(run -> run.await(PATIENCE));
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
    }

    @RepeatedTest(3)
    @Proves("CLAIM-5")
    void two_workers_never_execute_one_run_at_the_same_time() {
        var executing = ConcurrentHashMap.<RunId>newKeySet();
        var overlapping = ConcurrentHashMap.<RunId>newKeySet();
        Map<RunId, AtomicInteger> entries = new ConcurrentHashMap<>();
        var runs = triggerMany(WORK, 400);

        for (int i = 0; i < 3; i++) {
            open(settings -> settings.lease(LONG_LEASE))
                    .worker()
                    .concurrency(7)
                    .handle(WORK, (ctx, input) -> {
                        entries.computeIfAbsent(ctx.runId(), id -> new AtomicInteger())
                                .incrementAndGet();
                        return alone(ctx, executing, overlapping, () -> {
                            ctx.run("once", () -> {});
                            ctx.sleep("and again", Duration.ofMillis(1));
                            return input;
                        });
                    })
                    .start();
        }
        runs.forEach(run -> run.await(PATIENCE));

        assertThat(overlapping).isEmpty();
        assertThat(entries).hasSize(400);
        assertThat(entries.values()).allMatch(entered -> entered.get() == 2);
        assertThat(runs).allMatch(run -> run.info().lease().epoch() == 2);
    }

    private static String alone(
            WorkflowContext ctx, Set<RunId> executing, Set<RunId> overlapping, Gauge.Work<String> work)
            throws Exception {
        if (!executing.add(ctx.runId())) {
            overlapping.add(ctx.runId());
        }
        try {
            return work.run();
        } finally {
            executing.remove(ctx.runId());
        }
    }

    private static String work(WorkflowContext ctx, String input) {
        ctx.run("work", () -> TimeUnit.MILLISECONDS.sleep(5));
        return input;
    }

    private List<RunHandle<String>> triggerMany(Workflow<String, String> workflow, int count) {
        steadwork.register(workflow);
        return steadwork.workflow(workflow).triggerAll(Collections.nCopies(count, "x"));
    }
}
