package dev.steadwork.benchmarks.measure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collections;
import java.util.stream.IntStream;

/**
 * W11: a session that sits idle in a transaction keeps vacuum from removing anything, while runs come at a steady rate. How
 * fast waiting runs are drained at the start, at the end, and when the session has gone.
 */
final class HeldHorizon {
    private static final int RATE = Scale.HORIZON_RATE;
    private static final int TICKS_PER_SECOND = 10;
    private static final int WINDOWS = 10;

    private final Peer peer;
    private final QueueLoad load;

    HeldHorizon(Peer peer) {
        this.peer = peer;
        this.load = new QueueLoad(peer);
    }

    void run() throws Exception {
        peer.setup();
        load.warmUp();
        try (var session = Db.connect()) {
            holdHorizon(session);
            double start = drainRate();
            Output.result("w11_start_drain_per_s", start);
            boolean keptUp = runSteadily();
            if (keptUp) {
                double end = drainRate();
                Output.result("w11_end_drain_per_s", end);
                Output.result("w11_end_over_start", end / start);
            } else {
                Output.result("w11_end_over_start", 0);
            }
            session.rollback();
            if (keptUp) {
                Output.result("w11_released_drain_per_s", drainRate());
            }
        }
    }

    private static void holdHorizon(Connection session) throws SQLException {
        session.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        session.setAutoCommit(false);
        Db.query(session, "SELECT 1");
    }

    /** The median of three. */
    private double drainRate() throws Exception {
        var rates = new double[3];
        for (int i = 0; i < rates.length; i++) {
            load.enqueueBatch();
            rates[i] = Scale.RUNS / load.drain(Scale.RUNS);
        }
        Arrays.sort(rates);
        return rates[1];
    }

    /** Whether the worker kept up with the rate. */
    private boolean runSteadily() throws Exception {
        int total = RATE * Scale.HORIZON_SECONDS;
        var waits = new Waits(total);
        Jobs.reset(waits);
        try (var enqueuer = peer.enqueuer();
                var worker = peer.worker("drain")) {
            int done = 0;
            for (int window = 0; window < WINDOWS; window++) {
                long start = System.nanoTime();
                feed(enqueuer, Math.max(1, Scale.HORIZON_SECONDS * TICKS_PER_SECOND / WINDOWS));
                double seconds = Lanes.secondsSince(start);
                int now = waits.size();
                var found = waits.percentiles(done, now, 0.5, 0.99);
                Output.result("w11_window" + window + "_per_s", (now - done) / seconds);
                Output.result("w11_window" + window + "_p50_ms", found[0]);
                Output.result("w11_window" + window + "_p99_ms", found[1]);
                done = now;
            }
            return awaitBacklog();
        }
    }

    private static void feed(Peer.Enqueuer enqueuer, int ticks) throws Exception {
        long start = System.nanoTime();
        for (int tick : IntStream.range(0, ticks).toArray()) {
            long left = start + tick * (1_000_000_000L / TICKS_PER_SECOND) - System.nanoTime();
            if (left > 0) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            enqueuer.many(Collections.nCopies(RATE / TICKS_PER_SECOND, Jobs.micros()));
        }
    }

    /** False if what waits is not gone after half a minute. */
    private boolean awaitBacklog() throws Exception {
        try (var connection = Db.connectToCount()) {
            for (int look = 0; look < 300; look++) {
                if (Db.query(connection, peer.unfinishedSql()) == 0) {
                    return true;
                }
                Thread.sleep(100);
            }
        }
        return false;
    }
}
