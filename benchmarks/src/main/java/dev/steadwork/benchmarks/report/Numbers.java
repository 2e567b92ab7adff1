package dev.steadwork.benchmarks.report;

import java.util.Locale;

/** Numbers as people read them. */
final class Numbers {
    private Numbers() {}

    /** Three digits or so. */
    static String show(double value) {
        double size = Math.abs(value);
        if (size >= 1000) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        if (size >= 100 || size == 0) {
            return String.format(Locale.ROOT, "%.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return String.format(Locale.ROOT, size >= 1 ? "%.2f" : size >= 0.1 ? "%.2f" : "%.4f", value);
    }

    /** Like {@link #show}, without zeros at the end. */
    static String brief(double value) {
        var text = show(value);
        return text.contains(".") ? text.replaceFirst("0+$", "").replaceFirst("\\.$", "") : text;
    }

    /** Thousands and millions of rows. */
    static String rows(long n) {
        if (n >= 1_000_000) {
            return brief(n / 1e6) + " million";
        }
        return String.format(Locale.ROOT, "%,d", n);
    }
}
