package dev.steadwork.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** The cases in which a peer is better than Steadwork. */
final class Ahead {
    private record Case(String title, String metric, boolean moreIsBetter) {}

    private static final List<Case> CASES = List.of(
            new Case("W1 single, 16 threads", "w1_single_per_s", true),
            new Case("W1 single, 256 callers", "w1_256_callers_per_s", true),
            new Case("W1 batch", "w1_batch_per_s", true),
            new Case("W2 drain", "w2_drain_per_s", true),
            new Case("W2 until the first run", "w2_first_ms", false),
            new Case("W3 p50", "w3_low_p50_ms", false),
            new Case("W3 p95", "w3_low_p95_ms", false),
            new Case("W3 p99", "w3_low_p99_ms", false),
            new Case("W3 p50, default settings", "w3_default_p50_ms", false),
            new Case("W3 p99, default settings", "w3_default_p99_ms", false),
            new Case("W4 direct", "w4_direct_workflows_per_s", true),
            new Case("W4 queued", "w4_queued_workflows_per_s", true),
            new Case("W5 statements", "w5_statements_per_job", false),
            new Case("W5 WAL", "w5_wal_bytes_per_job", false),
            new Case("W5 client CPU", "w5_client_cpu_us_per_job", false),
            new Case("W5 server CPU", "w5_server_cpu_us_per_job", false),
            new Case("W6 idle statements", "w6_low_statements_per_s", false));

    private Ahead() {}

    static List<String> lines(Results results) {
        var lines = new ArrayList<String>();
        for (var each : CASES) {
            for (var peer : results.peersWith(List.of(each.metric()))) {
                var ratio = results.ratio(peer, each.metric(), "steadwork", each.metric())
                        .orElse(1);
                boolean ahead = each.moreIsBetter() ? ratio > 1 : ratio < 1;
                if (ahead && !peer.equals("raw")) {
                    lines.add("- %s: %s has %s x Steadwork's".formatted(each.title(), peer, Numbers.show(ratio)));
                }
            }
        }
        return lines;
    }
}
