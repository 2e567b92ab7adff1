package dev.steadwork.benchmarks.measure;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;

/** What this process needs for runs under way and for runs that sleep. The harness gives it a small heap. */
final class ClientMemory {
    private static final Workflow<Integer, Integer> HELD = Workflow.define("held", Integer.class, Integer.class);
    private static final Workflow<Integer, Integer> ASLEEP = Workflow.define("asleep", Integer.class, Integer.class);

    private ClientMemory() {}

    static void run() throws Exception {
        Output.result("mem_max_heap_mib", Runtime.getRuntime().maxMemory() / 1048576.0);
        workflows();
        inFlight();
        sleeping();
    }

    /** W4 as it is, in this heap. */
    private static void workflows() throws Exception {
        try (var steadwork = SteadworkPeer.open()) {
            steadwork
                    .worker()
                    .handle(SteadworkWorkflows.THREE, SteadworkWorkflows::three)
                    .concurrency(Scale.IN_FLIGHT)
                    .start();
            SteadworkWorkflows.warmUp(steadwork);
            int n = Scale.WORKFLOWS;
            Output.result("mem_w4_workflows_per_s", n / SteadworkWorkflows.direct(steadwork, n));
        }
    }

    /** All of them inside a step. */
    private static void inFlight() throws Exception {
        var inside = new CountDownLatch(Scale.IN_FLIGHT);
        var goOn = new CountDownLatch(1);
        try (var steadwork = SteadworkPeer.open()) {
            steadwork
                    .worker()
                    .handle(
                            HELD,
                            (ctx, i) -> ctx.step("hold", Integer.class, step -> {
                                inside.countDown();
                                goOn.await();
                                return i;
                            }))
                    .concurrency(Scale.IN_FLIGHT)
                    .start();
            double before = liveHeapMib();
            steadwork.workflow(HELD).triggerAll(Collections.nCopies(Scale.IN_FLIGHT, 1));
            inside.await();
            double held = liveHeapMib();
            Output.result("mem_in_flight_heap_mib", held);
            Output.result("mem_in_flight_kib_per_run", (held - before) * 1024 / Scale.IN_FLIGHT);
            goOn.countDown();
        }
    }

    private static void sleeping() throws Exception {
        try (var steadwork = SteadworkPeer.open()) {
            steadwork
                    .worker()
                    .handle(ASLEEP, (ctx, i) -> {
                        ctx.sleep("long", Duration.ofDays(1));
                        return i;
                    })
                    .concurrency(Scale.IN_FLIGHT)
                    .start();
            steadwork.workflow(ASLEEP).trigger(0);
            awaitAsleep(1);
            int threads = threads();
            double before = liveHeapMib();
            trigger(steadwork, Scale.SLEEPERS);
            awaitAsleep(Scale.SLEEPERS + 1);
            Output.result("mem_sleeping_runs", Scale.SLEEPERS);
            Output.result("mem_sleeping_threads", threads() - threads);
            Output.result("mem_sleeping_heap_mib", liveHeapMib() - before);
        }
    }

    private static void trigger(Steadwork steadwork, int runs) {
        for (int i = 0; i < runs; i += 1000) {
            steadwork.workflow(ASLEEP).triggerAll(Collections.nCopies(Math.min(1000, runs - i), i));
        }
    }

    private static void awaitAsleep(int runs) throws Exception {
        try (var connection = Db.connect()) {
            var sql = "SELECT count(*) FROM steadwork.run WHERE type = 'asleep' AND status = 'SLEEPING'";
            while (Db.query(connection, sql) < runs) {
                Thread.sleep(20);
            }
        }
        Thread.sleep(1000); // threads that have done their work end
    }

    private static double liveHeapMib() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1048576.0;
    }

    /** Platform and virtual threads, as a thread dump lists them. */
    private static int threads() throws IOException {
        var directory = Files.createTempDirectory("threads");
        var file = directory.resolve("dump.json");
        try {
            var diagnostics = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            diagnostics.dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.JSON);
            return Files.readString(file).split("\"tid\"", -1).length - 1;
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }
}
