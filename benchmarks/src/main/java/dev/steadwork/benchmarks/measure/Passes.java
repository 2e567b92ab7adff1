package dev.steadwork.benchmarks.measure;

import java.util.ArrayList;
import java.util.List;

/**
 * A workload that takes a second or less is measured up to five times in a row, as often as that begins within ten seconds: the
 * speed of machines and disks changes from one second to the next.
 */
final class Passes {
    private static final int MOST = 5;
    private static final double SECONDS = 10;

    private final List<Double> seconds = new ArrayList<>();

    interface Pass {
        double seconds() throws Exception;
    }

    static Passes of(Pass pass) throws Exception {
        var passes = new Passes();
        long start = System.nanoTime();
        do {
            passes.add(pass.seconds());
        } while (passes.count() < MOST && Lanes.secondsSince(start) < SECONDS);
        return passes;
    }

    void add(double taken) {
        seconds.add(taken);
    }

    int count() {
        return seconds.size();
    }

    double median() {
        var sorted = seconds.stream().sorted().toList();
        return (sorted.get((count() - 1) / 2) + sorted.get(count() / 2)) / 2;
    }
}
