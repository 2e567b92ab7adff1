package dev.steadwork.store;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A worker as it is recorded.
 *
 * @param id the id that its heartbeats carry; derived from namespace, host, pid and name
 * @param queues the queues it reads
 * @param versions the versions of runs it claims; empty means: all
 * @param buildVersion the version of the program, if it told
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
        List<String> versions,
        int concurrency,
        @Nullable String buildVersion,
        Map<String, String> labels) {

    /** The same, but reading these queues. */
    public WorkerRegistration reading(Collection<String> others) {
        return new WorkerRegistration(
                namespace,
                id,
                name,
                host,
                pid,
                List.copyOf(others),
                types,
                typePrefixes,
                versions,
                concurrency,
                buildVersion,
                labels);
    }
}
