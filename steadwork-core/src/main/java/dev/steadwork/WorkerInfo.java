package dev.steadwork;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A worker as the registry knows it. What changes while it works is as of its last heartbeat.
 *
 * @param id what it is addressed by; the same host, process id and name is the same worker
 * @param name tells several workers of one process apart
 * @param host the machine it runs on
 * @param pid its process there
 * @param version the version of the program, if it was told by {@link WorkerBuilder#buildVersion}
 * @param labels what {@link WorkerBuilder#label} said of it
 * @param status whether it takes runs
 * @param queues the queues it reads
 * @param types the workflows it has handlers for
 * @param typePrefixes if not empty, it takes every type that begins with one of these
 * @param versions the versions of runs it takes; empty means any
 * @param concurrency how many runs it executes at once
 * @param active how many it executes
 * @param completed how many runs it has completed, in all
 * @param failed how many runs have failed on it for good, in all; failures that are retried do not count
 * @param registeredAt when it was first seen
 * @param heartbeatAt when it was last heard of
 */
public record WorkerInfo(
        String id,
        String name,
        String host,
        long pid,
        @Nullable String version,
        Map<String, String> labels,
        WorkerStatus status,
        List<String> queues,
        List<String> types,
        List<String> typePrefixes,
        List<String> versions,
        int concurrency,
        int active,
        long completed,
        long failed,
        Instant registeredAt,
        Instant heartbeatAt) {
    public WorkerInfo {
        labels = Map.copyOf(labels);
        queues = List.copyOf(queues);
        types = List.copyOf(types);
        typePrefixes = List.copyOf(typePrefixes);
        versions = List.copyOf(versions);
    }
}
