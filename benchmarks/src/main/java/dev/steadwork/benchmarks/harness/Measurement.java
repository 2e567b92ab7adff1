package dev.steadwork.benchmarks.harness;

import java.util.List;
import java.util.Map;

/**
 * One process to be started, and how the numbers it prints are filed.
 *
 * @param prefix put before the name of every number
 * @param properties system properties of a Java process
 */
record Measurement(
        String round,
        String peer,
        List<String> arguments,
        String prefix,
        Map<String, String> environment,
        Map<String, String> properties,
        String heap,
        int limitSeconds) {

    static Measurement of(String round, String peer, Map<String, String> environment, String... arguments) {
        return new Measurement(round, peer, List.of(arguments), "", environment, Map.of(), "2g", 900);
    }

    Measurement prefixed(String newPrefix) {
        return new Measurement(round, peer, arguments, newPrefix, environment, properties, heap, limitSeconds);
    }

    Measurement with(Map<String, String> newProperties) {
        return new Measurement(round, peer, arguments, prefix, environment, newProperties, heap, limitSeconds);
    }

    Measurement heap(String newHeap) {
        return new Measurement(round, peer, arguments, prefix, environment, properties, newHeap, limitSeconds);
    }

    Measurement limit(int seconds) {
        return new Measurement(round, peer, arguments, prefix, environment, properties, heap, seconds);
    }

    String title() {
        return "round %s: %s %s".formatted(round, peer, String.join(" ", arguments));
    }
}
