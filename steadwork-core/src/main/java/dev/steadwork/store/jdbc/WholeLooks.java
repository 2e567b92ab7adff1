package dev.steadwork.store.jdbc;

import java.time.Duration;

/**
 * How often a look at an index begins at its beginning. While some session keeps vacuum from cleaning up, all that was ever
 * handled is still there, dead, in front of what waits, and such a look passes over all of it. A look that was as quick as it
 * should be is simply repeated. A slow one is repeated so seldom that a twentieth of the time goes into it; looks in between
 * begin further on.
 */
final class WholeLooks {
    private static final long QUICK_NANOS = Duration.ofMillis(10).toNanos();
    private static final long QUICK_NANOS_PER_RUN = Duration.ofNanos(50_000).toNanos();
    private static final int SELDOM = 20;

    private boolean areSlow;
    private long nextNanos = System.nanoTime();

    synchronized boolean areDue() {
        return !areSlow || System.nanoTime() - nextNanos >= 0;
    }

    /** @param runs how many it has found and changed */
    synchronized void took(long nanos, int runs) {
        areSlow = nanos > QUICK_NANOS + runs * QUICK_NANOS_PER_RUN;
        nextNanos = System.nanoTime() + SELDOM * nanos;
    }

    synchronized Duration untilNext() {
        return Duration.ofNanos(Math.max(0, nextNanos - System.nanoTime()));
    }
}
