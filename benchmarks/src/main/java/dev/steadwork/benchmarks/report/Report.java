package dev.steadwork.benchmarks.report;

import dev.steadwork.benchmarks.report.Tables.Column;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Writes report.md and its charts beside the numbers they come from. */
public final class Report {
    private static final Column[] QUEUE = {
        new Column("W1 single, 16 threads (runs/s)", "w1_single_per_s", "w1_single_per_s"),
        new Column("W1 single, 256 callers", "w1_256_callers_per_s", "w1_single_per_s"),
        new Column("W1 batch (runs/s)", "w1_batch_per_s", "w1_batch_per_s"),
        new Column("W2 drain (runs/s)", "w2_drain_per_s", "w2_drain_per_s"),
        Column.of("first run after (ms)", "w2_first_ms"),
        new Column("W2 after the first run", "w2_after_first_per_s", "w2_after_first_per_s"),
    };
    private static final Column[] COLD = {
        Column.of("W1 single (runs/s)", "w1_cold_single_per_s"),
        Column.of("W2 drain (runs/s)", "w2_cold_drain_per_s"),
        Column.of("W4 workflows/s", "w4_cold_workflows_per_s"),
    };
    private static final Column[] COST = {
        Column.of("transactions", "w5_xacts_per_job"),
        Column.of("statements", "w5_statements_per_job"),
        new Column("WAL bytes", "w5_wal_bytes_per_job", "w5_wal_bytes_per_job"),
        Column.of("client CPU (us)", "w5_client_cpu_us_per_job"),
        Column.of("server CPU (us)", "w5_server_cpu_us_per_job"),
    };
    private static final String COMMIT_EACH = "w4_full_commit_each_256wf_16conn_workflows_per_s";
    private static final String GROUP_256 = "w4_full_group_commit_256wf_2conn_workflows_per_s";
    private static final String GROUP_1024 = "w4_full_group_commit_1024wf_2conn_workflows_per_s";
    private static final Column[] WORKFLOWS = {
        new Column("direct (workflows/s), to a commit each", "w4_direct_workflows_per_s", COMMIT_EACH),
        new Column("to group commit, 256", "w4_direct_workflows_per_s", GROUP_256),
        new Column("to group commit, 1,024", "w4_direct_workflows_per_s", GROUP_1024),
        new Column("queued (workflows/s)", "w4_queued_workflows_per_s", COMMIT_EACH),
        Column.of("statements/wf", "w4_direct_statements_per_wf"),
        Column.of("WAL bytes/wf", "w4_direct_wal_bytes_per_wf"),
        Column.of("client CPU us/wf", "w4_direct_client_cpu_us_per_wf"),
        Column.of("server CPU us/wf", "w4_direct_server_cpu_us_per_wf"),
    };

    private static final Column[] STOLEN = {
        Column.of("W1 single: the passes that count (%)", "w1_single_per_s_stolen_percent"),
        Column.of("256 callers", "w1_256_callers_per_s_stolen_percent"),
        Column.of("batch", "w1_batch_per_s_stolen_percent"),
        Column.of("W2", "w2_drain_per_s_stolen_percent"),
        Column.of("W1, W2: all of it", "stolen_percent_queue"),
        Column.of("W4: the passes that count", "w4_direct_workflows_per_s_stolen_percent"),
        Column.of("W4: all of it", "stolen_percent_workflow"),
        Column.of("W3", "stolen_percent_latency_low"),
        Column.of("W7", "stolen_percent_timers"),
        Column.of("W8", "stolen_percent_crash"),
        Column.of("W11", "stolen_percent_horizon"),
        Column.of("W12", "stolen_percent_retention"),
    };

    private final Results all;
    private final Results durable;
    private final List<String> lines = new ArrayList<>();

    private Report(Results all) {
        this.all = all;
        this.durable = all.durable();
    }

    public static void write(Path results) throws IOException {
        var report = new Report(Results.read(results.resolve("results.txt")));
        report.lines.add("# Benchmarks");
        report.machine(results.resolve("machine.txt"));
        report.targets();
        report.ahead();
        report.charts(results);
        report.tables();
        report.failures();
        Files.write(results.resolve("report.md"), report.lines);
    }

    private void machine(Path file) throws IOException {
        if (Files.exists(file)) {
            lines.addAll(List.of("", "```"));
            lines.addAll(Files.readAllLines(file));
            lines.add("```");
        }
        if (Files.exists(file) && Files.readString(file).contains(" --quick")) {
            lines.addAll(List.of("", "**A quick run: it shows that everything works; its numbers mean little.**"));
        }
        lines.addAll(
                List.of(
                        "",
                        "Median [min..max] of the rounds; in brackets the median of the ratios to the raw limit of the same round."));
    }

    private void targets() {
        lines.addAll(List.of(
                "",
                "## Targets",
                "",
                "| workload | to reach | reached | | rounds |",
                "| --- | --- | --- | --- | --- |"));
        for (var target : Targets.of(durable)) {
            lines.add(Tables.row(
                    target.workload(),
                    List.of(target.demand(), target.shown(), target.verdict(), target.shownRounds())));
        }
    }

    private void ahead() {
        var cases = Ahead.lines(durable);
        if (!cases.isEmpty()) {
            lines.addAll(List.of("", "## Where a peer is ahead", ""));
            lines.addAll(cases);
        }
    }

    private void charts(Path directory) throws IOException {
        var charts = Charts.of(durable);
        if (!charts.isEmpty()) {
            lines.addAll(List.of("", "## Charts"));
        }
        for (var chart : charts) {
            Files.writeString(directory.resolve(chart.file()), chart.svg());
            lines.addAll(List.of("", "![%s](%s)".formatted(chart.title(), chart.file())));
        }
    }

    private void tables() {
        limits();
        add("W1, W2: throughput", durable, QUEUE);
        add("Cold: the first of each in a new process", durable, COLD);
        add("W5: cost of a run in W2", durable, COST);
        add("W4: workflows of three steps", durable, WORKFLOWS);
        add("W3 and W6, tuned for latency", durable, latency("low"));
        add("W3 and W6, default settings", durable, latency("default"));
        add("W7: lateness of timers that are due within one second", durable, timers());
        add(
                "W8: from kill -9 to the next step",
                durable,
                Column.of("lease (ms)", "w8_lease_ms"),
                Column.of("resumed after (ms)", "w8_resume_ms"),
                Column.of("over the lease (ms)", "w8_resume_minus_lease_ms"),
                Column.of("slowest over the lease (ms)", "w8_worst_resume_minus_lease_ms"));
        growth();
        add("W10: SQLite", durable, sqlite());
        add(
                "W11: a session idle in a transaction holds the vacuum horizon",
                durable,
                Column.of("drain at the start (runs/s)", "w11_start_drain_per_s"),
                Column.of("at the end", "w11_end_drain_per_s"),
                Column.of("end / start", "w11_end_over_start"),
                Column.of("after it has gone", "w11_released_drain_per_s"),
                Column.of("p99 of starts, first tenth (ms)", "w11_window0_p99_ms"),
                Column.of("p99, last tenth (ms)", "w11_window9_p99_ms"));
        add(
                "W12: 1,000 runs/s while finished runs are deleted for good",
                durable,
                Column.of("start p50 before (ms)", "w12_without_p50_ms"),
                Column.of("p50 meanwhile", "w12_with_p50_ms"),
                Column.of("p99 before", "w12_without_p99_ms"),
                Column.of("p99 meanwhile", "w12_with_p99_ms"),
                Column.of("deleted", "w12_deleted"),
                Column.of("deleted (runs/s)", "w12_deleted_per_s"));
        add(
                "Client memory, with -Xmx256m",
                durable,
                Column.of("W4 (workflows/s)", "mem_w4_workflows_per_s"),
                Column.of("live heap, 1,024 runs in a step (MiB)", "mem_in_flight_heap_mib"),
                Column.of("of it a run (KiB)", "mem_in_flight_kib_per_run"),
                Column.of("sleeping runs", "mem_sleeping_runs"),
                Column.of("threads they hold", "mem_sleeping_threads"),
                Column.of("heap they hold (MiB)", "mem_sleeping_heap_mib"));
        add("What other tenants of the machine took of its processors", durable, STOLEN);
        add("synchronous_commit = off, once", all.nosync(), QUEUE);
        add("Workflows with synchronous_commit = off, once", all.nosync(), WORKFLOWS);
    }

    private void add(String title, Results results, Column... columns) {
        lines.addAll(Tables.perPeer(title, results, columns));
    }

    private void limits() {
        var metrics = all.metrics("raw", metric -> metric.matches("([a-e]_|w4_full).*"));
        if (metrics.isEmpty()) {
            return;
        }
        lines.addAll(List.of("", "## Raw limits", "", "| metric | synchronous_commit on | off, once |"));
        lines.add("| --- | --- | --- |");
        for (var metric : metrics) {
            var on = Tables.cell(durable, "raw", metric, null);
            lines.add(Tables.row(metric, List.of(on, Tables.cell(all.nosync(), "raw", metric, null))));
        }
    }

    private static Column[] latency(String mode) {
        return new Column[] {
            new Column("p50 (ms)", "w3_" + mode + "_p50_ms", "w3_low_p50_ms"),
            Column.of("p95 (ms)", "w3_" + mode + "_p95_ms"),
            new Column("p99 (ms)", "w3_" + mode + "_p99_ms", "w3_low_p99_ms"),
            Column.of("cold: p50 (ms)", "w3_" + mode + "_cold_p50_ms"),
            Column.of("cold: p99 (ms)", "w3_" + mode + "_cold_p99_ms"),
            Column.of("idle statements/s", "w6_" + mode + "_statements_per_s"),
            Column.of("idle server CPU (ms/s)", "w6_" + mode + "_server_cpu_ms_per_s"),
        };
    }

    private static Column[] timers() {
        return new Column[] {
            Column.of("sleeps: p50 (ms)", "w7_sleep_p50_ms"),
            Column.of("p99", "w7_sleep_p99_ms"),
            Column.of("latest", "w7_sleep_max_ms"),
            Column.of("delayed starts: p50 (ms)", "w7_start_p50_ms"),
            Column.of("p99", "w7_start_p99_ms"),
            Column.of("latest", "w7_start_max_ms"),
            Column.of("sleeps, cold: p50 (ms)", "w7_cold_p50_ms"),
            Column.of("latest", "w7_cold_max_ms"),
        };
    }

    private static Column[] sqlite() {
        return new Column[] {
            new Column("W1 single, 16 threads (runs/s)", "w10_w1_single_per_s", "w10_w1_single_per_s"),
            new Column("256 callers", "w10_w1_256_callers_per_s", "w10_w1_single_per_s"),
            new Column("W1 batch", "w10_w1_batch_per_s", "w10_w1_batch_per_s"),
            new Column("W2 drain (runs/s)", "w10_w2_drain_per_s", "w10_w2_drain_per_s"),
            new Column("W4 (workflows/s)", "w10_w4_direct_workflows_per_s", "w10_w4_direct_workflows_per_s"),
            Column.of("W3 p50 (ms)", "w10_w3_low_p50_ms"),
            Column.of("W3 p99 (ms)", "w10_w3_low_p99_ms"),
        };
    }

    private void growth() {
        var all = Growth.of(durable).stream()
                .sorted(Comparator.comparing(Growth::sleeping).thenComparing(Growth::finished))
                .toList();
        if (all.isEmpty()) {
            return;
        }
        lines.addAll(List.of("", "## W9: growth", ""));
        lines.add(
                "| peer | finished | sleeping | W1 single (runs/s) | W2 drain (runs/s) | W3 p50 (ms) | W3 p99 (ms) |");
        lines.add("| --- | --- | --- | --- | --- | --- | --- |");
        for (var peer : List.of("steadwork", "raw")) {
            for (var growth : all) {
                if (durable.median(peer, growth.metric("w2_drain_per_s")).isPresent()) {
                    lines.add(grown(peer, growth));
                }
            }
        }
    }

    private String grown(String peer, Growth growth) {
        var cells = new ArrayList<>(List.of(Numbers.rows(growth.finished()), Numbers.rows(growth.sleeping())));
        for (var metric : List.of("w1_single_per_s", "w2_drain_per_s", "w3_low_p50_ms", "w3_low_p99_ms")) {
            cells.add(Tables.cell(durable, peer, growth.metric(metric), null));
        }
        return Tables.row(peer, cells);
    }

    private void failures() {
        var failed = all.rows().stream()
                .filter(row -> row.metric().contains("failed_"))
                .map(row -> "%s %s (round %s)".formatted(row.peer(), row.metric(), row.round()))
                .collect(Collectors.joining(", "));
        if (!failed.isEmpty()) {
            lines.addAll(List.of("", "Failed: " + failed + ". See errors.log."));
        }
    }
}
