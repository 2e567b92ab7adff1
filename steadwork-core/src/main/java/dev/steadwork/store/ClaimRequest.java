package dev.steadwork.store;

import java.time.Duration;
import java.util.List;

/**
 * Which runs a worker would take.
 *
 * @param types exactly these types; ignored if prefixes are given
 * @param typePrefixes types that begin with one of these ({@code _} and {@code %} are ordinary characters)
 * @param versions only these versions; empty means: any, also none
 * @param limit at most so many runs
 * @param lease how long the claim lasts without a heartbeat
 */
public record ClaimRequest(
        String namespace,
        String worker,
        List<String> queues,
        List<String> types,
        List<String> typePrefixes,
        List<String> versions,
        int limit,
        Duration lease) {}
