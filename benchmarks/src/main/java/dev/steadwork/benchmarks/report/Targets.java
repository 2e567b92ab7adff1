package dev.steadwork.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** What Steadwork wants to reach, beside what it reached. */
final class Targets {
    private static final String SELF = "steadwork";
    private static final List<String> PEERS =
            List.of("db-scheduler", "jobrunr", "dbos-java", "graphile-worker", "pg-boss", "dbos-ts");
    private static final String RAW_GROUP_COMMIT = "w4_full_group_commit_1024wf_2conn_workflows_per_s";

    private final Results results;
    private final List<Target> all = new ArrayList<>();

    private Targets(Results results) {
        this.results = results;
    }

    static List<Target> of(Results results) {
        var targets = new Targets(results);
        targets.workflows();
        targets.queue();
        targets.latency();
        targets.timersAndCrashes();
        targets.growth();
        targets.sqlite();
        targets.endurance();
        return List.copyOf(targets.all);
    }

    private void workflows() {
        var metric = "w4_direct_workflows_per_s";
        ratioAtLeast("W4 workflows of 3 steps", 25, "DBOS Java, direct", metric, "dbos-java", metric);
        ratioAtLeast(
                "W4 workflows of 3 steps",
                0.35,
                "the raw group commit, 1,024 in flight",
                metric,
                "raw",
                RAW_GROUP_COMMIT);
    }

    private void queue() {
        var drain = "w2_drain_per_s";
        ratioAtLeast("W2 drain", 1.3, "graphile-worker", drain, "graphile-worker", drain);
        ratioAtLeast("W2 drain", 0.7, "raw", drain, "raw", drain);
        ratioAtLeast("W2 drain", 6, "db-scheduler", drain, "db-scheduler", drain);
        var single = "w1_single_per_s";
        ratioAtLeast("W1 single, 16 threads", 1.5, "raw, one commit per insert", single, "raw", single);
        all.add(Target.atLeast("W1 single, 16 threads", 2.5, " x", " the best peer", ratiosToBest(single)));
        ratioAtLeast("W1 single, 256 callers", 3, "raw, 16 connections", "w1_256_callers_per_s", "raw", single);
        var batch = "w1_batch_per_s";
        ratioAtLeast("W1 batch", 0.6, "raw batch", batch, "raw", batch);
        all.add(Target.atLeast("W1 batch", 1.5, " x", " the best peer", ratiosToBest(batch)));
        ratioAtMost("W5 WAL of a drained run", 1.6, "raw", "w5_wal_bytes_per_job", "raw");
        all.add(Target.atMost("W5 statements of a drained run", 0.01, "", "", rounds("w5_statements_per_job")));
    }

    private void latency() {
        ratioAtMost("W3 start latency, p50", 1.1, "graphile-worker", "w3_low_p50_ms", "graphile-worker");
        ratioAtMost("W3 start latency, p99", 1.1, "graphile-worker", "w3_low_p99_ms", "graphile-worker");
        all.add(Target.atMost("W6 idle worker", 1, " statements/s", "", rounds("w6_low_statements_per_s")));
    }

    private void timersAndCrashes() {
        all.add(Target.atMost("W7 timers, the latest", 1000, " ms", "", rounds("w7_sleep_max_ms")));
        all.add(Target.atMost("W7 timers, p50", 300, " ms", "", rounds("w7_sleep_p50_ms")));
        all.add(Target.atMost(
                "W8 crash to resume, the slowest",
                1000,
                " ms",
                " over the lease",
                rounds("w8_worst_resume_minus_lease_ms")));
    }

    private void growth() {
        var most = Growth.largest(results);
        var beside = most.equals(Growth.EMPTY)
                ? " of the empty table"
                : " of the empty table, beside %s finished and %s sleeping runs"
                        .formatted(Numbers.rows(most.finished()), Numbers.rows(most.sleeping()));
        all.add(Target.atLeast("W9 drain", 0.85, " x", beside, grown(most, "w2_drain_per_s")));
        all.add(Target.atMost("W9 start latency, p50", 1.15, " x", beside, grown(most, "w3_low_p50_ms")));
        all.add(Target.atMost("W9 start latency, p99", 1.15, " x", beside, grown(most, "w3_low_p99_ms")));
    }

    private List<Double> grown(Growth most, String metric) {
        if (most.equals(Growth.EMPTY)) {
            return List.of();
        }
        return results.ratios(SELF, most.metric(metric), SELF, Growth.EMPTY.metric(metric));
    }

    private void sqlite() {
        either("W10 SQLite, drain", 10_000, "runs/s", "w10_w2_drain_per_s");
        either("W10 SQLite, workflows of 3 steps", 3000, "workflows/s", "w10_w4_direct_workflows_per_s");
    }

    /** A rate, or half of what a raw loop of the same writes reaches: shown is the side that is nearer to its bound. */
    private void either(String workload, double rate, String unit, String metric) {
        var rates = rounds(metric);
        var ratios = results.ratios(SELF, metric, "raw", metric);
        var ratio = results.ratio(SELF, metric, "raw", metric);
        boolean byRate = ratio.isEmpty() || results.median(SELF, metric).orElse(0) / rate >= ratio.getAsDouble() / 0.5;
        var or = " (or at least 0.5 x raw)";
        all.add(
                byRate
                        ? Target.atLeast(workload, rate, " " + unit, or, rates)
                        : Target.atLeast(
                                workload, 0.5, " x", " raw (or at least %,.0f %s)".formatted(rate, unit), ratios));
    }

    private void endurance() {
        all.add(Target.atLeast("W11 held vacuum horizon", 0.7, " x", " of the start", rounds("w11_end_over_start")));
        all.add(Target.atMost(
                "W12 start latency while runs are deleted, p50",
                2,
                " x",
                " of that without",
                rounds("w12_p50_with_over_without")));
        all.add(Target.atMost(
                "W12 start latency while runs are deleted, p99",
                2,
                " x",
                " of that without",
                rounds("w12_p99_with_over_without")));
        all.add(Target.atMost("threads of sleeping runs", 5, "", "", rounds("mem_sleeping_threads")));
        all.add(Target.atMost("heap of 1,024 runs under way", 256, " MiB", "", rounds("mem_in_flight_heap_mib")));
    }

    private void ratioAtLeast(
            String workload, double bound, String of, String metric, String otherPeer, String otherMetric) {
        var ratios = results.ratios(SELF, metric, otherPeer, otherMetric);
        all.add(Target.atLeast(workload, bound, " x", " " + of, ratios));
    }

    private void ratioAtMost(String workload, double bound, String of, String metric, String otherPeer) {
        all.add(Target.atMost(workload, bound, " x", " " + of, results.ratios(SELF, metric, otherPeer, metric)));
    }

    private List<Double> ratiosToBest(String metric) {
        return PEERS.stream()
                .filter(peer -> results.ratio(SELF, metric, peer, metric).isPresent())
                .min(Comparator.comparingDouble(
                        peer -> results.ratio(SELF, metric, peer, metric).orElseThrow()))
                .map(best -> results.ratios(SELF, metric, best, metric))
                .orElse(List.of());
    }

    private List<Double> rounds(String metric) {
        return List.copyOf(results.values(SELF, metric).values());
    }
}
