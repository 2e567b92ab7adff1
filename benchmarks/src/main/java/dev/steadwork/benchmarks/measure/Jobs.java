package dev.steadwork.benchmarks.measure;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/** What every no-op run does: it is counted, and its wait since it was asked for is told to who wants to know. */
public final class Jobs {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static volatile long firstNanos;
    private static volatile LongConsumer waits = micros -> {};

    private Jobs() {}

    static void reset() {
        reset(micros -> {});
    }

    /** @param waitsInMicros called for every run that carries the time at which it was asked for */
    static void reset(LongConsumer waitsInMicros) {
        COUNT.set(0);
        firstNanos = 0;
        waits = waitsInMicros;
    }

    /** Microseconds of the wall clock, comparable between processes of one machine. */
    static long micros() {
        return micros(Instant.now());
    }

    static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1000;
    }

    public static void ran(long stamp) {
        if (COUNT.getAndIncrement() == 0) {
            firstNanos = System.nanoTime();
        }
        if (stamp > 0) {
            waits.accept(micros() - stamp);
        }
    }

    static int count() {
        return COUNT.get();
    }

    static long firstNanos() {
        return firstNanos;
    }

    static void awaitCount(int n, long limitSeconds) throws InterruptedException {
        long end = System.nanoTime() + limitSeconds * 1_000_000_000L;
        while (COUNT.get() < n) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("only " + COUNT.get() + " of " + n + " runs were executed");
            }
            Thread.sleep(2);
        }
    }
}
