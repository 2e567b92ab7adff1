package dev.steadwork;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of this namespace, in all processes. Filters narrow what {@link #list()}, {@link #page(int)} and {@link
 * #count()} see; each returns a new object, so a narrowed one can be kept and used again. Safe for use by several threads.
 *
 * <pre>{@code
 * steadwork.workers().queue("orders").status(WorkerStatus.ONLINE).list();
 * }</pre>
 *
 * <p>A worker that was closed or has fallen silent is OFFLINE. Seven days after its last heartbeat it is forgotten.
 */
public final class Workers {
    private final Source source;
    private final Filter filter;

    /** What a worker must match; null or empty means: any. */
    public record Filter(@Nullable String queue, @Nullable WorkerStatus status, Map<String, String> labels) {
        static final Filter NONE = new Filter(null, null, Map.of());

        public Filter {
            labels = Map.copyOf(labels);
        }
    }

    /** Where workers are registered. */
    public interface Source {
        List<WorkerInfo> list(Filter filter);

        Page<WorkerInfo> page(Filter filter, int size);

        long count(Filter filter);

        void drain(String workerId);

        void resume(String workerId);

        void deregister(String workerId);
    }

    Workers(Source source) {
        this(source, Filter.NONE);
    }

    private Workers(Source source, Filter filter) {
        this.source = source;
        this.filter = filter;
    }

    /** That read this queue. */
    public Workers queue(String name) {
        return new Workers(source, new Filter(Check.name("queue", name), filter.status, filter.labels));
    }

    /** In this status. */
    public Workers status(WorkerStatus status) {
        return new Workers(source, new Filter(filter.queue, Check.notNull("status", status), filter.labels));
    }

    /** With this label; several must all be there. */
    public Workers label(String key, String value) {
        var all = new TreeMap<>(filter.labels);
        all.put(Check.name("label key", key), Check.text("value of label " + key, value));
        return new Workers(source, new Filter(filter.queue, filter.status, all));
    }

    /** All that match, by id. */
    public List<WorkerInfo> list() {
        return source.list(filter);
    }

    /** The first page, by id, of at most this many that match (1 to 1000). */
    public Page<WorkerInfo> page(int size) {
        if (size < 1 || size > 1000) {
            throw new InvalidArgument("page size is %d; allowed is 1 to 1000.".formatted(size));
        }
        return source.page(filter, size);
    }

    /** How many match. */
    public long count() {
        return source.count(filter);
    }

    /**
     * Tells a worker to take no more runs and to finish those it executes. It shows as DRAINING from now on and no longer
     * counts as online; it hears of it at once where the database can notify, and with its next heartbeat otherwise. A run
     * that goes to sleep on it is continued by another worker.
     *
     * <p>The worker stays, without work, until its owner closes it or {@link #resume} takes this back. A worker that is
     * started anew, also under the same id, begins without it. Without effect on one that drains already; one that is OFFLINE
     * drains should it come back to life.
     *
     * @throws NotFound if there is no such worker
     */
    public void drain(String workerId) {
        source.drain(Check.name("worker id", workerId));
    }

    /**
     * Takes back a {@link #drain}: the worker takes runs again. Not for one that is being closed. Without effect on one that
     * was not drained.
     *
     * @throws NotFound if there is no such worker
     */
    public void resume(String workerId) {
        source.resume(Check.name("worker id", workerId));
    }

    /**
     * Marks a dead worker OFFLINE without waiting until it counts as stale, as a worker does itself when it is closed. Its
     * runs go to others when their leases end. One that lives is back with its next heartbeat: {@link #drain} it instead.
     *
     * @throws NotFound if there is no such worker
     */
    public void deregister(String workerId) {
        source.deregister(Check.name("worker id", workerId));
    }
}
