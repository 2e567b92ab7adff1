package dev.steadwork.benchmarks.measure;

import dev.steadwork.Steadwork;
import java.time.Duration;
import java.util.Collections;

/** W12: start latency at a steady rate, first beside many finished runs, then while all of them are deleted for good. */
final class RetentionLoad {
    private static final int RATE = 1000;
    private static final int TICKS_PER_SECOND = 100;

    private RetentionLoad() {}

    static void run() throws Exception {
        var peer = new SteadworkPeer();
        peer.setup();
        peer.fill(Scale.EXPIRED, 0);
        try (var worker = peer.worker("drain");
                var enqueuer = peer.enqueuer();
                var operator = SteadworkPeer.open()) {
            feed(enqueuer, "warm", () -> Scale.WARM_SECONDS);
            double[] without = feed(enqueuer, "without", () -> Scale.SECONDS);
            double[] with = feedWhileDeleting(enqueuer, operator);
            Output.result("w12_p50_with_over_without", with[0] / without[0]);
            Output.result("w12_p99_with_over_without", with[1] / without[1]);
        }
    }

    /** How long to go on; asked again and again. */
    @FunctionalInterface
    private interface Seconds {
        int now();
    }

    private static double[] feedWhileDeleting(Peer.Enqueuer enqueuer, Steadwork operator) throws Exception {
        operator.namespaces().create("default", namespace -> namespace.keepCompleted(Duration.ofSeconds(1)));
        long begin = System.nanoTime();
        var deleting = new Thread(() -> {
            long deleted = operator.expired().delete().total();
            Output.result("w12_deleted", deleted);
            Output.result("w12_deleted_per_s", deleted / Lanes.secondsSince(begin));
        });
        deleting.start();
        var found =
                feed(enqueuer, "with", () -> deleting.isAlive() ? Integer.MAX_VALUE : (int) Lanes.secondsSince(begin));
        deleting.join();
        return found;
    }

    /** Runs at the rate, some every ten milliseconds, and how long they waited: p50 and p99. */
    private static double[] feed(Peer.Enqueuer enqueuer, String phase, Seconds seconds) throws Exception {
        var waits = new Waits(10_000_000);
        Jobs.reset(waits);
        long start = System.nanoTime();
        int ticks = 0;
        while (ticks < (long) seconds.now() * TICKS_PER_SECOND) {
            long left = start + ticks * (1_000_000_000L / TICKS_PER_SECOND) - System.nanoTime();
            if (left > 0) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            enqueuer.many(Collections.nCopies(RATE / TICKS_PER_SECOND, Jobs.micros()));
            ticks++;
        }
        Jobs.awaitCount(ticks * (RATE / TICKS_PER_SECOND), 60);
        var found = waits.percentiles(0, waits.size(), 0.5, 0.99);
        Output.result("w12_" + phase + "_p50_ms", found[0]);
        Output.result("w12_" + phase + "_p99_ms", found[1]);
        return found;
    }
}
