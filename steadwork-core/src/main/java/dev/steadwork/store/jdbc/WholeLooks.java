package dev.steadwork.store.jdbc;

import java.time.Duration;

/**
 * How often a look at an index begins at its beginning. While some session keeps vacuum from cleaning up, all that was ever
 * handled is still there, dead, in front of what waits, and such a look passes over all of it. A look that was as quick as it
 * should be is simply repeated. A slow one is repeated so seldom that a twentieth of the time goes into it; looks in between
 * begin further on. These also tell what a look takes at least, with the network and the disk.
 */
final class WholeLooks {
    private static final long ALLOWED_NANOS = Duration.ofMillis(10).toNanos();
    private static final long ALLOWED_NANOS_PER_RUN = Duration.ofNanos(50_000).toNanos();
    private static final int SELDOM = 20;
    private static final long LONGEST_WAIT_NANOS = Duration.ofSeconds(30).toNanos();

    private boolean areSlow;
    private long nextNanos = System.nanoTime();
    private long quickestNanos = Long.MAX_VALUE;

    synchronized boolean areDue() {
        return !areSlow || System.nanoTime() - nextNanos >= 0;
    }

    /** @param runs how many it has found and changed */
    synchronized void took(long nanos, int runs) {
        long atLeast = quickestNanos == Long.MAX_VALUE ? 0 : quickestNanos;
        areSlow = nanos > atLeast + ALLOWED_NANOS + runs * ALLOWED_NANOS_PER_RUN;
        nextNanos = System.nanoTime() + Math.min(SELDOM * nanos, LONGEST_WAIT_NANOS);
    }

    /** A look that began further on. */
    synchronized void partTook(long nanos) {
        quickestNanos = Math.min(quickestNanos, nanos);
    }

    synchronized Duration untilNext() {
        return Duration.ofNanos(Math.max(0, nextNanos - System.nanoTime()));
    }
}
