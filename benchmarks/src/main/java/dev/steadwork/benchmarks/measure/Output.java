package dev.steadwork.benchmarks.measure;

import java.util.Locale;

/** What a measured process tells the harness: lines "RESULT metric value". */
final class Output {
    private Output() {}

    static void result(String metric, double value) {
        if (Double.isFinite(value)) {
            System.out.printf(Locale.ROOT, "RESULT %s %.3f%n", metric, value);
        }
    }

    /** How many a second there were in the passes that count, and what these lost to other tenants of the machine. */
    static void rate(String metric, int n, Passes passes) {
        result(metric, n / passes.median());
        result(metric + "_stolen_percent", 100 * passes.stolen());
    }

    static void note(String text) {
        System.err.println("note: " + text);
    }
}
