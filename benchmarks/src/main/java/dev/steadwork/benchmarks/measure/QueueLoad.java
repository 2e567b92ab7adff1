package dev.steadwork.benchmarks.measure;

import static dev.steadwork.benchmarks.measure.Turn.Phase.COLD;
import static dev.steadwork.benchmarks.measure.Turn.Phase.MANY_CALLERS;
import static dev.steadwork.benchmarks.measure.Turn.Phase.MEASURE;
import static dev.steadwork.benchmarks.measure.Turn.Phase.REST;
import static dev.steadwork.benchmarks.measure.Turn.Phase.SINGLE;
import static dev.steadwork.benchmarks.measure.Turn.Phase.SINGLE_WARM_UP;
import static dev.steadwork.benchmarks.measure.Turn.Phase.WARM_UP;

import java.util.Collections;

/** W1 enqueue, W2 drain, W5 cost of a run. */
final class QueueLoad {
    private static final int RUNS = Scale.RUNS;
    private static final int SOME = RUNS / 4;
    /** So long is enqueued for the first drain. */
    private static final double COLD_SECONDS = Scale.WARM_SECONDS / 10.0;
    /** And so long again before it counts. */
    private static final double SINGLE_WARM_SECONDS = Scale.WARM_SECONDS / 3.0;

    private final Peer peer;
    private long drainStart;

    QueueLoad(Peer peer) {
        this.peer = peer;
    }

    void run() throws Exception {
        Turn.next(COLD);
        peer.setup();
        int waiting = coldSingle();
        Output.result("w2_cold_drain_per_s", waiting / drain(waiting));
        int single = enqueueSingly();
        Turn.next(WARM_UP);
        drain(single);
        warmUp();
        var batches = new Passes();
        var drains = new Passes();
        Passes.repeat(
                MEASURE,
                () -> {
                    batches.add(this::enqueueBatch);
                    drains.add(() -> drain(RUNS));
                },
                batches,
                drains);
        Output.rate("w1_batch_per_s", RUNS, batches);
        Output.rate("w2_drain_per_s", RUNS, drains);
        Turn.next(REST);
        enqueueBatch();
        if (Db.isSqlite()) {
            reportStart(drain(RUNS));
        } else {
            drainAndCount();
        }
    }

    /** The number of runs that wait now. */
    private int coldSingle() throws Exception {
        try (var enqueuer = peer.enqueuer()) {
            Output.result("w1_cold_single_per_s", SOME / single(enqueuer, SOME));
            return SOME + enqueueFor(COLD_SECONDS, enqueuer);
        }
    }

    /** The number of runs that wait now. */
    private int enqueueSingly() throws Exception {
        try (var enqueuer = peer.enqueuer()) {
            Turn.next(SINGLE_WARM_UP);
            int warm = enqueueFor(SINGLE_WARM_SECONDS, enqueuer);
            var threads = Passes.of(SINGLE, () -> single(enqueuer, RUNS));
            Output.rate("w1_single_per_s", RUNS, threads);
            if (!peer.bearsManyCallers()) {
                return warm + RUNS * threads.count();
            }
            var callers = Passes.of(MANY_CALLERS, () -> Lanes.virtual(256, RUNS, i -> enqueuer.one(0)));
            Output.rate("w1_256_callers_per_s", RUNS, callers);
            return warm + RUNS * (threads.count() + callers.count());
        }
    }

    /** The number of runs that were enqueued. */
    private static int enqueueFor(double seconds, Peer.Enqueuer enqueuer) throws Exception {
        int enqueued = 0;
        for (long start = System.nanoTime(); Lanes.secondsSince(start) < seconds; enqueued += SOME) {
            single(enqueuer, SOME);
        }
        return enqueued;
    }

    /** Drains until that alone has taken long enough for the compilers. */
    void warmUp() throws Exception {
        for (double drained = 0; drained < Scale.WARM_SECONDS; ) {
            enqueueBatch();
            drained += drain(RUNS);
        }
    }

    private void drainAndCount() throws Exception {
        try (var connection = Db.connect()) {
            Thread.sleep(500); // the enqueuer's connections end and report their counters
            var before = Db.Probe.read(connection);
            double seconds = drain(RUNS);
            Thread.sleep(500);
            var after = Db.Probe.read(connection);
            reportStart(seconds);
            Output.result("w5_xacts_per_job", (after.transactions() - before.transactions()) / (double) RUNS);
            after.reportSince(before, RUNS, "w5_", "job");
        }
    }

    private void reportStart(double seconds) {
        double untilFirst = (Jobs.firstNanos() - drainStart) / 1e9;
        Output.result("w2_first_ms", untilFirst * 1000);
        Output.result("w2_after_first_per_s", RUNS / (seconds - untilFirst));
    }

    private static double single(Peer.Enqueuer enqueuer, int n) throws Exception {
        return Lanes.threads(16, n, i -> enqueuer.one(0));
    }

    /** Singly if the peer has no batches; then the time means nothing and is not a number. */
    double enqueueBatch() throws Exception {
        try (var enqueuer = peer.enqueuer()) {
            long start = System.nanoTime();
            if (enqueuer.many(Collections.nCopies(RUNS, 0L))) {
                return Lanes.secondsSince(start);
            }
            single(enqueuer, RUNS);
            return Double.NaN;
        }
    }

    /** The seconds from the worker's start until the database says that nothing is left. */
    double drain(int n) throws Exception {
        Jobs.reset();
        try (var connection = Db.connectToCount()) {
            drainStart = System.nanoTime();
            double seconds;
            try (var worker = peer.worker("drain")) {
                Jobs.awaitCount(n, 300);
                while (Db.query(connection, peer.unfinishedSql()) > 0) {
                    Thread.sleep(5);
                }
                seconds = Lanes.secondsSince(drainStart);
            }
            if (Jobs.count() != n) {
                Output.note(Jobs.count() + " executions of " + n + " runs");
            }
            return seconds;
        }
    }
}
