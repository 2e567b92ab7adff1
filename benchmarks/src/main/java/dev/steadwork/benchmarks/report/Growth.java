package dev.steadwork.benchmarks.report;

import java.util.List;
import java.util.regex.Pattern;

/** What of W9 was measured: beside how many finished and sleeping runs. */
record Growth(long finished, long sleeping) {
    static final Growth EMPTY = new Growth(0, 0);
    private static final Pattern METRIC = Pattern.compile("w9_(\\d+)_(\\d+)_.*");

    static List<Growth> of(Results results) {
        return results.rows().stream()
                .map(row -> METRIC.matcher(row.metric()))
                .filter(matcher -> matcher.matches())
                .map(matcher -> new Growth(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))))
                .distinct()
                .toList();
    }

    /** The most of both. */
    static Growth largest(Results results) {
        var all = of(results);
        return new Growth(
                all.stream().mapToLong(Growth::finished).max().orElse(0),
                all.stream().mapToLong(Growth::sleeping).max().orElse(0));
    }

    String metric(String plain) {
        return "w9_%d_%d_%s".formatted(finished, sleeping, plain);
    }
}
