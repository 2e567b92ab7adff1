package dev.steadwork.benchmarks.measure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A workload that takes a second or less is measured up to five times, as often as that begins within ten seconds of its own: the
 * speed of machines and disks changes from one second to the next. A pass that lost more than three percent of the processors'
 * time to other tenants of the machine is repeated, up to ten passes and half a minute; the five that lost least count, whatever they
 * measured.
 */
final class Passes {
    private static final int COUNTED = 5;
    private static final int MOST = 10;
    private static final double SECONDS = 10;
    private static final double SECONDS_IF_DISTURBED = 30;
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

    static Passes of(Turn.Phase phase, Pass pass) throws Exception {
        var passes = new Passes();
        repeat(phase, () -> passes.add(pass), passes);
        return passes;
    }

    interface Work {
        void run() throws Exception;
    }

    /** Repeats work that adds a pass to each of these until all have enough, a turn for each time. */
    static void repeat(Turn.Phase phase, Work work, Passes... each) throws Exception {
        double worked = 0;
        do {
            Turn.next(phase);
            long start = System.nanoTime();
            work.run();
            worked += Lanes.secondsSince(start);
        } while (Passes.wantMore(worked, each));
        for (var passes : each) {
            passes.tell();
        }
    }

    private static boolean wantMore(double worked, Passes... each) {
        return Stream.of(each).anyMatch(passes -> passes.wantMore(worked));
    }

    private boolean wantMore(double worked) {
        long disturbed = disturbed();
        return count() - disturbed < COUNTED
                && count() < MOST
                && worked < (disturbed == 0 ? SECONDS : SECONDS_IF_DISTURBED);
    }

    private long disturbed() {
        return all.stream().filter(Taken::isDisturbed).count();
    }

    private void tell() {
        if (disturbed() > 0) {
            Output.note(
                    "%d of %d passes were disturbed by other tenants of the machine".formatted(disturbed(), count()));
        }
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

    private Stream<Taken> counted() {
        return all.stream().sorted(Comparator.comparing(Taken::stolen)).limit(COUNTED);
    }

    /** What the passes that count have lost on average, between 0 and 1. */
    double stolen() {
        return counted().mapToDouble(Taken::stolen).average().orElse(0);
    }

    double median() {
        var sorted = counted().map(Taken::seconds).sorted().toList();
        return (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
    }
}
