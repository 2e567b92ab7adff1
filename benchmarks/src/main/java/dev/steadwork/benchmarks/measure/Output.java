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

    static void note(String text) {
        System.err.println("note: " + text);
    }
}
