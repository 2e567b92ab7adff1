package dev.steadwork.benchmarks.harness;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What can be chosen to be measured, and who takes part in it. */
enum Part {
    LIMITS("raw"),
    QUEUE("steadwork", "raw", "db-scheduler", "jobrunr", "dbos-java", "graphile-worker", "pg-boss", "dbos-ts"),
    WORKFLOW("steadwork", "raw", "dbos-java", "dbos-ts", "temporal-test"),
    LATENCY("steadwork", "raw", "db-scheduler", "jobrunr", "dbos-java", "graphile-worker", "pg-boss", "dbos-ts"),
    TIMERS("steadwork"),
    CRASH("steadwork"),
    MEMORY("steadwork"),
    SQLITE("steadwork", "raw"),
    GROWTH("steadwork", "raw"),
    HORIZON("steadwork", "raw"),
    RETENTION("steadwork"),
    NOSYNC("steadwork", "raw", "db-scheduler", "jobrunr", "dbos-java", "graphile-worker", "pg-boss", "dbos-ts");

    private final List<String> peers;

    Part(String... peers) {
        this.peers = List.of(peers);
    }

    List<String> peers() {
        return peers;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static String labels() {
        return Arrays.stream(values()).map(Part::label).collect(Collectors.joining(", "));
    }

    static List<String> allPeers() {
        return Arrays.stream(values())
                .flatMap(part -> part.peers.stream())
                .distinct()
                .toList();
    }
}
