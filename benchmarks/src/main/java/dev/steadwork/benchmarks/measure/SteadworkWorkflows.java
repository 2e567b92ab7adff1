package dev.steadwork.benchmarks.measure;

import static dev.steadwork.benchmarks.measure.Turn.Phase.COLD;
import static dev.steadwork.benchmarks.measure.Turn.Phase.MEASURE;
import static dev.steadwork.benchmarks.measure.Turn.Phase.REST;
import static dev.steadwork.benchmarks.measure.Turn.Phase.WARM_UP;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.time.Duration;

/** W4: workflows of three steps, triggered and awaited in the process that executes them, and triggered only. */
final class SteadworkWorkflows {
    static final Workflow<Integer, Integer> THREE = Workflow.define("three", Integer.class, Integer.class);
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int N = Scale.WORKFLOWS;

    private SteadworkWorkflows() {}

    static int three(WorkflowContext ctx, int i) {
        int a = ctx.step("one", Integer.class, step -> i + 1);
        int b = ctx.step("two", Integer.class, step -> a + 1);
        int c = ctx.step("three", Integer.class, step -> b + 1);
        Jobs.ran(0);
        return c;
    }

    static void run() throws Exception {
        Turn.next(COLD);
        try (var steadwork = SteadworkPeer.open()) {
            steadwork
                    .worker()
                    .handle(THREE, SteadworkWorkflows::three)
                    .concurrency(Scale.IN_FLIGHT)
                    .start();
            Output.result("w4_cold_workflows_per_s", N / direct(steadwork, N));
            Turn.next(WARM_UP);
            warmUp(steadwork);
            var passes = Passes.of(MEASURE, () -> direct(steadwork, N));
            Output.rate("w4_direct_workflows_per_s", N, passes);
            Output.result("w4_direct_steps_per_s", 3 * N / passes.median());
            Turn.next(REST);
            if (!Db.isSqlite()) {
                Db.reportCost("w4_direct_", "wf", N, () -> direct(steadwork, N));
            }
            queued(steadwork, N);
            Output.result("w4_queued_workflows_per_s", N / queued(steadwork, N));
        }
    }

    static void warmUp(Steadwork steadwork) throws Exception {
        long start = System.nanoTime();
        while (Lanes.secondsSince(start) < Scale.WARM_SECONDS) {
            direct(steadwork, N);
        }
    }

    /** Every workflow is awaited; so many are under way at once. */
    static double direct(Steadwork steadwork, int n) throws Exception {
        var three = steadwork.workflow(THREE);
        return Lanes.virtual(Scale.IN_FLIGHT, n, i -> {
            var c = three.trigger(i).await(PATIENCE);
            if (c == null || c != i + 3) {
                throw new IllegalStateException("workflow " + i + " returned " + c);
            }
        });
    }

    /** Triggered by 16 threads and awaited by nobody; until the last has ended. */
    private static double queued(Steadwork steadwork, int n) throws Exception {
        Jobs.reset();
        var three = steadwork.workflow(THREE);
        long start = System.nanoTime();
        Lanes.threads(16, n, i -> three.trigger(i));
        Jobs.awaitCount(n, 300);
        try (var connection = Db.connectToCount()) {
            while (Db.query(connection, unfinishedSql()) > 0) {
                Thread.sleep(10);
            }
        }
        return Lanes.secondsSince(start);
    }

    private static String unfinishedSql() {
        return """
                SELECT (SELECT count(*)
                          FROM %1$s
                         WHERE status = 'PENDING'
                           AND deleted_at IS NULL)
                     + (SELECT count(*)
                          FROM %1$s
                         WHERE status IN ('SLEEPING', 'RUNNING')
                           AND deleted_at IS NULL)
                """.formatted(Db.isSqlite() ? "steadwork_run" : "steadwork.run");
    }
}
