package dev.steadwork.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The charts of a report; those without numbers are left out. */
final class Charts {
    private static final int WINDOWS = 10;

    private final Results results;
    private final List<Chart> all = new ArrayList<>();

    private Charts(Results results) {
        this.results = results;
    }

    static List<Chart> of(Results results) {
        var charts = new Charts(results);
        charts.bars("w1-single", "W1: single triggers, 16 threads, runs/s", "w1_single_per_s");
        charts.bars("w1-batch", "W1: triggers in batches, runs/s", "w1_batch_per_s");
        charts.bars("w2-drain", "W2: drain of waiting no-op runs, runs/s", "w2_drain_per_s");
        charts.workflows();
        charts.latencies();
        charts.growth("w9-drain", "W9: drain (runs/s) beside so many finished runs", "w2_drain_per_s");
        charts.growth("w9-p50", "W9: start latency p50 (ms) beside so many finished runs", "w3_low_p50_ms");
        charts.growth("w9-p99", "W9: start latency p99 (ms) beside so many finished runs", "w3_low_p99_ms");
        charts.bars("w10-drain", "W10: drain on SQLite, synchronous=FULL, runs/s", "w10_w2_drain_per_s");
        charts.bars(
                "w10-workflows",
                "W10: workflows of three steps on SQLite, workflows/s",
                "w10_w4_direct_workflows_per_s");
        charts.horizon("w11-rate", "W11: runs/s while the vacuum horizon is held", "per_s");
        charts.horizon("w11-p99", "W11: start latency p99 (ms) while the vacuum horizon is held", "p99_ms");
        return List.copyOf(charts.all);
    }

    private void add(String name, String title, String svg) {
        all.add(new Chart(name + ".svg", title, svg));
    }

    private void bars(String name, String title, String metric) {
        var bars = results.peersWith(List.of(metric)).stream()
                .map(peer -> Bars.Bar.of(results, peer, metric))
                .toList();
        if (!bars.isEmpty()) {
            add(name, title, Bars.draw(title, bars));
        }
    }

    private void workflows() {
        var title = "W4: workflows of three steps, workflows/s";
        var bars = new ArrayList<Bars.Bar>();
        for (var peer : results.peersWith(List.of("w4_direct_workflows_per_s"))) {
            bars.add(Bars.Bar.of(results, peer, "w4_direct_workflows_per_s"));
        }
        var limits = new String[][] {
            {"raw, group commit", "w4_full_group_commit_1024wf_2conn_workflows_per_s"},
            {"raw, a commit each", "w4_full_commit_each_256wf_16conn_workflows_per_s"},
        };
        for (var limit : limits) {
            if (results.median("raw", limit[1]).isPresent()) {
                var bar = Bars.Bar.of(results, "raw", limit[1]);
                bars.add(new Bars.Bar(limit[0], bar.value(), bar.least(), bar.most()));
            }
        }
        if (!bars.isEmpty()) {
            add("w4-workflows", title, Bars.draw(title, bars));
        }
    }

    private void latencies() {
        var title = "W3: start latency at 200 runs/s, ms, logarithmic";
        var rows = new ArrayList<Dots.Row>();
        for (var peer : results.peersWith(List.of("w3_low_p50_ms"))) {
            var percentiles = IntStream.of(50, 95, 99)
                    .mapToDouble(
                            p -> results.median(peer, "w3_low_p" + p + "_ms").orElse(1))
                    .toArray();
            rows.add(new Dots.Row(peer, percentiles));
        }
        if (!rows.isEmpty()) {
            add("w3-latency", title, Dots.draw(title, rows));
        }
    }

    private void growth(String name, String title, String metric) {
        var all = Growth.of(results);
        var finished = all.stream().map(Growth::finished).distinct().sorted().toList();
        var curves = new ArrayList<Curves.Curve>();
        for (var peer : List.of("steadwork", "raw")) {
            for (long sleeping :
                    all.stream().map(Growth::sleeping).distinct().sorted().toList()) {
                var values = finished.stream()
                        .mapToDouble(f -> results.median(peer, new Growth(f, sleeping).metric(metric))
                                .orElse(Double.NaN))
                        .toArray();
                if (IntStream.range(0, values.length).anyMatch(i -> Double.isFinite(values[i]))) {
                    curves.add(new Curves.Curve("%s, %s sleeping".formatted(peer, Numbers.rows(sleeping)), values));
                }
            }
        }
        if (!curves.isEmpty()) {
            add(
                    name,
                    title,
                    Curves.draw(title, finished.stream().map(Numbers::rows).toList(), curves));
        }
    }

    private void horizon(String name, String title, String kind) {
        var curves = new ArrayList<Curves.Curve>();
        for (var peer : results.peersWith(List.of("w11_window0_" + kind))) {
            var values = IntStream.range(0, WINDOWS)
                    .mapToDouble(i ->
                            results.median(peer, "w11_window" + i + "_" + kind).orElse(Double.NaN))
                    .toArray();
            curves.add(new Curves.Curve(peer, values));
        }
        if (!curves.isEmpty()) {
            var places = IntStream.rangeClosed(1, WINDOWS)
                    .mapToObj(i -> i + "/" + WINDOWS)
                    .toList();
            add(name, title, Curves.draw(title, places, curves));
        }
    }
}
