package dev.steadwork.benchmarks.measure;

import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** W3 start latency of runs that come from a second process, and W6 the load of an idle worker with the same settings. */
final class LatencyLoad {
    private static final int RATE = 200;
    private static final int RUNS = RATE * (Scale.LATENCY_WARM_SECONDS + Scale.SECONDS);

    private final Peer peer;
    private final String name;
    private final String mode;

    LatencyLoad(Peer peer, String name, String mode) {
        this.peer = peer;
        this.name = name;
        this.mode = mode;
    }

    void run() throws Exception {
        peer.setup();
        var waits = new Waits(RUNS);
        Jobs.reset(waits);
        try (var worker = peer.worker(mode)) {
            Thread.sleep(2000);
            var feeder = ChildProcess.start(name, "feed");
            Jobs.awaitCount(RUNS, 180 + Scale.LATENCY_WARM_SECONDS + Scale.SECONDS);
            feeder.waitFor();
            report("w3_" + mode + "_cold_", waits, 0);
            report("w3_" + mode + "_", waits, RATE * Scale.LATENCY_WARM_SECONDS);
            if (Boolean.parseBoolean(System.getProperty("idle", "true")) && !Db.isSqlite()) {
                observeIdle();
            }
        }
    }

    private static void report(String prefix, Waits waits, int from) {
        var found = waits.percentiles(from, from + RATE * Scale.SECONDS, 0.5, 0.95, 0.99);
        Output.result(prefix + "p50_ms", found[0]);
        Output.result(prefix + "p95_ms", found[1]);
        Output.result(prefix + "p99_ms", found[2]);
    }

    private void observeIdle() throws Exception {
        Thread.sleep(3000);
        try (var connection = Db.connect()) {
            long statements = Db.statements(connection);
            double cpu = Db.serverCpuSeconds();
            Thread.sleep(Scale.SECONDS * 1000L);
            double seconds = Scale.SECONDS;
            Output.result("w6_" + mode + "_statements_per_s", (Db.statements(connection) - statements) / seconds);
            Output.result("w6_" + mode + "_server_cpu_ms_per_s", (Db.serverCpuSeconds() - cpu) * 1000 / seconds);
        }
    }

    /** The second process: a run every five milliseconds, late ones at once. */
    static void feed(Peer peer) throws Exception {
        try (var enqueuer = peer.enqueuer();
                var threads = Executors.newFixedThreadPool(16)) {
            long start = System.nanoTime();
            for (int i = 0; i < RUNS; i++) {
                long due = start + i * (1_000_000_000L / RATE);
                for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                threads.execute(() -> feedOne(enqueuer));
            }
            threads.shutdown();
            if (!threads.awaitTermination(60, TimeUnit.SECONDS)) {
                Output.note("the feeder did not come to an end");
            }
        }
    }

    private static void feedOne(Peer.Enqueuer enqueuer) {
        try {
            enqueuer.one(Jobs.micros());
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
