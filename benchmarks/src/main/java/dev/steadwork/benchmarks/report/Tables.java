package dev.steadwork.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tables in Markdown, a row per peer. */
final class Tables {
    /** @param limit the raw number that this one is set in relation to */
    record Column(String title, String metric, @Nullable String limit) {
        static Column of(String title, String metric) {
            return new Column(title, metric, null);
        }
    }

    private Tables() {}

    /** Nothing if nobody has a number. */
    static List<String> perPeer(String title, Results results, Column... columns) {
        var metrics = Arrays.stream(columns).map(Column::metric).toList();
        var peers = results.peersWith(metrics);
        if (peers.isEmpty()) {
            return List.of();
        }
        var lines = new ArrayList<>(List.of("", "## " + title, ""));
        lines.add(row("peer", Arrays.stream(columns).map(Column::title).toList()));
        lines.add(row("---", Collections.nCopies(columns.length, "---")));
        for (var peer : peers) {
            lines.add(row(
                    peer,
                    Arrays.stream(columns)
                            .map(column -> cell(results, peer, column.metric(), column.limit()))
                            .toList()));
        }
        return lines;
    }

    static String row(String first, List<String> others) {
        return "| " + first + " | " + String.join(" | ", others) + " |";
    }

    /** The median, the range, and the ratio to the raw limit. */
    static String cell(Results results, String peer, String metric, @Nullable String limit) {
        var median = results.median(peer, metric);
        if (median.isEmpty()) {
            return "-";
        }
        var text = new StringBuilder(Numbers.show(median.getAsDouble()));
        var values = results.values(peer, metric).values();
        if (values.size() > 1) {
            text.append(" [%s..%s]"
                    .formatted(Numbers.show(Collections.min(values)), Numbers.show(Collections.max(values))));
        }
        if (limit != null && !peer.equals("raw")) {
            results.ratio(peer, metric, "raw", limit)
                    .ifPresent(ratio ->
                            text.append(" (").append(Numbers.show(ratio)).append(')'));
        }
        return text.toString();
    }
}
