package dev.steadwork.benchmarks.measure;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

/** W7: many timers that are due within one second, as sleeps of runs under way and as delayed starts. */
final class TimerLateness {
    private static final Workflow<Long, Long> SLEEPER = Workflow.define("sleeper", Long.class, Long.class);
    private static final int N = Scale.TIMERS;

    private TimerLateness() {}

    static void run() throws Exception {
        try (var steadwork = SteadworkPeer.open()) {
            steadwork
                    .worker()
                    .handle(SLEEPER, (ctx, due) -> {
                        ctx.sleepUntil("timer", time(due));
                        Jobs.ran(due);
                        return due;
                    })
                    .handle(SteadworkPeer.NOOP, (ctx, due) -> {
                        Jobs.ran(due);
                        return due;
                    })
                    .concurrency(SteadworkPeer.CONCURRENCY)
                    .start();
            sleeps(steadwork, "cold");
            sleeps(steadwork, "sleep");
            starts(steadwork);
        }
    }

    private static void sleeps(Steadwork steadwork, String kind) throws Exception {
        var waits = new Waits(N);
        Jobs.reset(waits);
        long first = firstDue();
        steadwork.workflow(SLEEPER).triggerAll(dues(first));
        awaitAsleep(first);
        report(kind, waits);
    }

    private static void starts(Steadwork steadwork) throws Exception {
        var waits = new Waits(N);
        Jobs.reset(waits);
        long first = firstDue();
        Lanes.virtual(256, N, i -> {
            long due = dues(first, i);
            steadwork.workflow(SteadworkPeer.NOOP).startAt(time(due)).trigger(due);
        });
        awaitAsleep(first);
        report("start", waits);
    }

    /** Late enough for all of them to be asleep by then. */
    private static long firstDue() {
        return Jobs.micros(Instant.now().plus(Duration.ofSeconds(5 + N / 1000)));
    }

    private static List<Long> dues(long first) {
        return IntStream.range(0, N).mapToObj(i -> dues(first, i)).toList();
    }

    private static long dues(long first, int i) {
        return first + i * 1_000_000L / N;
    }

    private static Instant time(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
    }

    private static void awaitAsleep(long first) throws Exception {
        try (var connection = Db.connect()) {
            var sql = "SELECT count(*) FROM steadwork.run WHERE status = 'SLEEPING'";
            while (Db.query(connection, sql) < N) {
                if (Jobs.micros() > first) {
                    throw new IllegalStateException(
                            "not all %d runs were asleep before the first was due".formatted(N));
                }
                Thread.sleep(20);
            }
        }
    }

    private static void report(String kind, Waits waits) throws InterruptedException {
        Jobs.awaitCount(N, 120);
        var found = waits.percentiles(0, N, 0.5, 0.95, 0.99, 1);
        Output.result("w7_" + kind + "_p50_ms", found[0]);
        Output.result("w7_" + kind + "_p95_ms", found[1]);
        Output.result("w7_" + kind + "_p99_ms", found[2]);
        Output.result("w7_" + kind + "_max_ms", found[3]);
    }
}
