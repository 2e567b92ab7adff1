package dev.steadwork.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    @TempDir
    private Path directory;

    private String reportOf(String... numbers) throws IOException {
        Files.write(directory.resolve("results.txt"), List.of(numbers));
        Report.write(directory);
        return Files.readString(directory.resolve("report.md"));
    }

    @Test
    void a_ratio_compares_numbers_of_the_same_round_and_the_median_counts() throws IOException {
        var report = reportOf(
                "1 steadwork w2_drain_per_s 100",
                "1 raw w2_drain_per_s 100",
                "2 steadwork w2_drain_per_s 400",
                "2 raw w2_drain_per_s 500",
                "3 steadwork w2_drain_per_s 100",
                "3 raw w2_drain_per_s 1000");

        assertThat(report)
                .contains("| W2 drain | at least 0.7 x raw | 0.80 x | reached | 1.00, 0.80, 0.10 |")
                .contains("| steadwork | - | - | - | 100 [100..400] (0.80) |");
    }

    @Test
    void a_target_that_is_missed_falls_short() throws IOException {
        var report = reportOf("1 steadwork w2_drain_per_s 699", "1 raw w2_drain_per_s 1000");

        assertThat(report).contains("| W2 drain | at least 0.7 x raw | 0.70 x | **falls short** |");
    }

    @Test
    void what_was_not_measured_is_said() throws IOException {
        assertThat(reportOf("1 raw w2_drain_per_s 1000"))
                .contains("| W2 drain | at least 0.7 x raw | - | not measured |")
                .contains("| W8 crash to resume, the slowest | at most 1,000 ms over the lease | - | not measured |");
    }

    @Test
    void a_peer_is_compared_with_the_best_of_the_others() throws IOException {
        var report = reportOf(
                "1 steadwork w1_single_per_s 1000",
                "1 jobrunr w1_single_per_s 100",
                "1 db-scheduler w1_single_per_s 500");

        assertThat(report)
                .contains("| W1 single, 16 threads | at least 2.5 x the best peer | 2.00 x | **falls short** |");
    }

    @Test
    void a_peer_that_is_ahead_is_named() throws IOException {
        var report = reportOf(
                "1 steadwork w2_drain_per_s 1000",
                "1 raw w2_drain_per_s 3000",
                "1 pg-boss w2_drain_per_s 1500",
                "1 jobrunr w2_drain_per_s 900",
                "1 steadwork w3_low_p50_ms 3",
                "1 pg-boss w3_low_p50_ms 4",
                "1 graphile-worker w3_low_p50_ms 2.4");

        assertThat(report).contains("""
                        ## Where a peer is ahead

                        - W2 drain: pg-boss has 1.50 x Steadwork's
                        - W3 p50: graphile-worker has 0.80 x Steadwork's

                        """);
    }

    @Test
    void growth_is_measured_against_the_empty_table() throws IOException {
        var report = reportOf(
                "1 steadwork w9_0_0_w2_drain_per_s 1000",
                "1 steadwork w9_5000000_0_w2_drain_per_s 500",
                "1 steadwork w9_5000000_1000000_w2_drain_per_s 900");

        assertThat(report)
                .contains(
                        "| W9 drain | at least 0.85 x of the empty table, beside 5 million finished and 1 million sleeping runs | 0.90 x | reached |")
                .contains("| steadwork | 5 million | 0 | - | 500 | - | - |");
    }

    @Test
    void half_of_the_raw_loop_is_enough_on_sqlite() throws IOException {
        var report = reportOf("1 steadwork w10_w2_drain_per_s 6000", "1 raw w10_w2_drain_per_s 10000");

        assertThat(report)
                .contains("| W10 SQLite, drain | at least 0.5 x raw (or at least 10,000 runs/s) | 0.60 x | reached |");
    }

    @Test
    void numbers_without_durability_reach_no_target() throws IOException {
        var report = reportOf("nosync steadwork w2_drain_per_s 2000", "nosync raw w2_drain_per_s 1000");

        assertThat(report)
                .contains("| W2 drain | at least 0.7 x raw | - | not measured |")
                .contains("## synchronous_commit = off, once");
    }

    @Test
    void failures_are_named() throws IOException {
        assertThat(reportOf("2 jobrunr failed_queue 1"))
                .contains("Failed: jobrunr failed_queue (round 2). See errors.log.");
    }

    @Test
    void charts_are_well_formed() throws Exception {
        reportOf(
                "1 steadwork w2_drain_per_s 1000",
                "2 steadwork w2_drain_per_s 1100",
                "1 steadwork w3_low_p50_ms 2",
                "1 steadwork w3_low_p95_ms 4",
                "1 steadwork w3_low_p99_ms 9",
                "1 steadwork w9_0_0_w2_drain_per_s 1000",
                "1 steadwork w9_5000000_0_w2_drain_per_s 500",
                "1 steadwork w11_window0_per_s 10",
                "1 steadwork w11_window1_per_s 11");

        for (var name : List.of("w2-drain.svg", "w3-latency.svg", "w9-drain.svg", "w11-rate.svg")) {
            var document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(directory.resolve(name).toFile());
            assertThat(document.getDocumentElement().getNodeName()).isEqualTo("svg");
            assertThat(Files.readString(directory.resolve(name)))
                    .doesNotContain("NaN")
                    .doesNotContain("Infinity");
            assertThat(Files.readString(directory.resolve("report.md"))).contains("(" + name + ")");
        }
    }
}
