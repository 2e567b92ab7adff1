package dev.steadwork.benchmarks.report;

import java.util.OptionalDouble;

/**
 * A number to be reached.
 *
 * @param reached empty if it was not measured
 * @param unit what stands behind both numbers: " x", " ms", ...
 */
record Target(String workload, String demand, boolean atLeast, double bound, OptionalDouble reached, String unit) {
    static Target atLeast(String workload, double bound, String unit, String of, OptionalDouble reached) {
        return new Target(workload, "at least " + Numbers.brief(bound) + unit + of, true, bound, reached, unit);
    }

    static Target atMost(String workload, double bound, String unit, String of, OptionalDouble reached) {
        return new Target(workload, "at most " + Numbers.brief(bound) + unit + of, false, bound, reached, unit);
    }

    String shown() {
        return reached.isPresent() ? Numbers.show(reached.getAsDouble()) + unit : "-";
    }

    String verdict() {
        if (reached.isEmpty()) {
            return "not measured";
        }
        double value = reached.getAsDouble();
        return (atLeast ? value >= bound : value <= bound) ? "reached" : "**falls short**";
    }
}
