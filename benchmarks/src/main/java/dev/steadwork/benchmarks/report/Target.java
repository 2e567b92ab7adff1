package dev.steadwork.benchmarks.report;

import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * A number to be reached.
 *
 * @param rounds what was measured, round by round; empty if nothing was
 * @param unit what stands behind the numbers: " x", " ms", ...
 */
record Target(String workload, String demand, boolean atLeast, double bound, List<Double> rounds, String unit) {
    static Target atLeast(String workload, double bound, String unit, String of, List<Double> rounds) {
        return new Target(workload, "at least " + Numbers.brief(bound) + unit + of, true, bound, rounds, unit);
    }

    static Target atMost(String workload, double bound, String unit, String of, List<Double> rounds) {
        return new Target(workload, "at most " + Numbers.brief(bound) + unit + of, false, bound, rounds, unit);
    }

    OptionalDouble reached() {
        return Results.median(rounds.stream().mapToDouble(round -> round));
    }

    String shown() {
        var median = reached();
        return median.isPresent() ? Numbers.show(median.getAsDouble()) + unit : "-";
    }

    String shownRounds() {
        return rounds.stream().map(Numbers::show).collect(Collectors.joining(", "));
    }

    String verdict() {
        var median = reached();
        if (median.isEmpty()) {
            return "not measured";
        }
        double value = median.getAsDouble();
        return (atLeast ? value >= bound : value <= bound) ? "reached" : "**falls short**";
    }
}
