package dev.steadwork.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;

/** Every number of a run of the harness. */
record Results(List<Row> rows) {
    /** @param round a number, or "nosync" for numbers without synchronous_commit */
    record Row(String round, String peer, String metric, double value) {}

    static final String NOSYNC = "nosync";

    static Results read(Path file) throws IOException {
        return new Results(Files.readAllLines(file).stream()
                .filter(line -> !line.isBlank())
                .map(line -> line.split(" "))
                .map(words -> new Row(words[0], words[1], words[2], Double.parseDouble(words[3])))
                .toList());
    }

    /** The numbers of durable rounds only. */
    Results durable() {
        return only(row -> !row.round().equals(NOSYNC));
    }

    Results nosync() {
        return only(row -> row.round().equals(NOSYNC));
    }

    private Results only(Predicate<Row> wanted) {
        return new Results(rows.stream().filter(wanted).toList());
    }

    /** By round. */
    Map<String, Double> values(String peer, String metric) {
        var found = new TreeMap<String, Double>();
        for (var row : rows) {
            if (row.peer().equals(peer) && row.metric().equals(metric)) {
                found.put(row.round(), row.value());
            }
        }
        return found;
    }

    OptionalDouble median(String peer, String metric) {
        return median(values(peer, metric).values().stream().mapToDouble(v -> v));
    }

    /** The median of the ratios within each round. */
    OptionalDouble ratio(String peer, String metric, String otherPeer, String otherMetric) {
        return median(ratios(peer, metric, otherPeer, otherMetric).stream().mapToDouble(ratio -> ratio));
    }

    /** Of the rounds in which both were measured. */
    List<Double> ratios(String peer, String metric, String otherPeer, String otherMetric) {
        var others = values(otherPeer, otherMetric);
        return values(peer, metric).entrySet().stream()
                .filter(entry -> others.getOrDefault(entry.getKey(), 0.0) > 0)
                .map(entry -> entry.getValue() / others.getOrDefault(entry.getKey(), 1.0))
                .toList();
    }

    /** Peers that have one of these numbers, in the order in which they were measured. */
    List<String> peersWith(List<String> metrics) {
        return rows.stream()
                .filter(row -> metrics.contains(row.metric()))
                .map(Row::peer)
                .distinct()
                .toList();
    }

    List<String> metrics(String peer, Predicate<String> wanted) {
        return rows.stream()
                .filter(row -> row.peer().equals(peer))
                .map(Row::metric)
                .filter(wanted)
                .distinct()
                .toList();
    }

    static OptionalDouble median(DoubleStream values) {
        var sorted = values.sorted().toArray();
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2);
    }
}
