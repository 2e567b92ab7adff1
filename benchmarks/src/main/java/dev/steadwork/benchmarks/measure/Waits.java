package dev.steadwork.benchmarks.measure;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/** Keeps times in microseconds in the order in which they came. */
final class Waits implements LongConsumer {
    private final long[] micros;
    private final AtomicInteger next = new AtomicInteger();

    Waits(int capacity) {
        this.micros = new long[capacity];
    }

    @Override
    public void accept(long wait) {
        int i = next.getAndIncrement();
        if (i < micros.length) {
            micros[i] = wait;
        }
    }

    int size() {
        return Math.min(next.get(), micros.length);
    }

    /** Percentiles in milliseconds of those from one place to another. */
    double[] percentiles(int from, int to, double... shares) {
        var sorted = Arrays.copyOfRange(micros, from, to);
        Arrays.sort(sorted);
        return Arrays.stream(shares).map(share -> at(sorted, share)).toArray();
    }

    private static double at(long[] sorted, double share) {
        if (sorted.length == 0) {
            return Double.NaN;
        }
        int i = Math.min(sorted.length - 1, (int) (sorted.length * share));
        return sorted[i] / 1000.0;
    }
}
