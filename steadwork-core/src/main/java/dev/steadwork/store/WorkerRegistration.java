package dev.steadwork.store;

import java.util.List;

/**
 * A worker as it is recorded.
 *
 * @param id the id that its heartbeats carry; derived from namespace, host, pid and name
 */
public record WorkerRegistration(
        String namespace,
        String id,
        String name,
        String host,
        long pid,
        List<String> queues,
        List<String> types,
        List<String> typePrefixes,
        int concurrency) {}
