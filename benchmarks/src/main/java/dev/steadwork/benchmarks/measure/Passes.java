package dev.steadwork.benchmarks.measure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A workload that takes a second or less is measured up to five times in a row, as often as that begins within ten seconds: the
 * speed of machines and disks changes from one second to the next. A pass from which other tenants of the machine took more than
 * three percent of the processors is repeated, within twenty seconds; the five that lost least count, whatever they measured.
 */
final class Passes {
    private static final int COUNTED = 5;
    private static final int MOST = 20;
    private static final double SECONDS = 10;
    private static final double SECONDS_IF_DISTURBED = 20;
    private static final double DISTURBED = 0.03;

    private final List<Taken> all = new ArrayList<>();

    private record Taken(double seconds, double stolen) {
        boolean isDisturbed() {
            return stolen > DISTURBED;
        }
    }

    interface Pass {
        double seconds() throws Exception;
    }

    static Passes of(Pass pass) throws Exception {
        var passes = new Passes();
        long start = System.nanoTime();
        do {
            passes.add(pass);
        } while (passes.wantMore(Lanes.secondsSince(start)));
        return passes;
    }

    private boolean wantMore(double since) {
        long disturbed = all.stream().filter(Taken::isDisturbed).count();
        return count() - disturbed < COUNTED
                && count() < MOST
                && since < (disturbed == 0 ? SECONDS : SECONDS_IF_DISTURBED);
    }

    void add(Pass pass) throws Exception {
        var before = ProcessorTime.now();
        double seconds = pass.seconds();
        add(seconds, ProcessorTime.now().stolenSince(before));
    }

    void add(double seconds, double stolen) {
        all.add(new Taken(seconds, stolen));
    }

    int count() {
        return all.size();
    }

    double median() {
        var sorted = all.stream()
                .sorted(Comparator.comparing(Taken::stolen))
                .limit(COUNTED)
                .map(Taken::seconds)
                .sorted()
                .toList();
        return (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
    }
}
