package dev.steadwork;

/**
 * Runs of this namespace that its settings no longer keep, see {@link NamespaceSpec#keepCompleted} and its neighbours. A process
 * with a worker deletes them by itself, some hundred at a time and beginning every ten minutes; here they can be counted before a
 * setting is trusted, and deleted at once. Safe for use by several threads.
 *
 * <pre>{@code
 * steadwork.namespaces().update("acme", n -> n.keepCompleted(Duration.ofDays(30)));
 * long completed = steadwork.expired().count().completed();
 * }</pre>
 */
public final class ExpiredRuns {
    private final Source source;

    /** Where runs are kept. */
    public interface Source {
        Count sweep(boolean countOnly);
    }

    /**
     * How many runs.
     *
     * @param deleted of any status, deleted by {@link RunHandle#delete} before
     */
    public record Count(long completed, long failed, long cancelled, long deleted) {
        public static final Count NONE = new Count(0, 0, 0, 0);

        public long total() {
            return completed + failed + cancelled + deleted;
        }

        public Count plus(Count other) {
            return new Count(
                    completed + other.completed,
                    failed + other.failed,
                    cancelled + other.cancelled,
                    deleted + other.deleted);
        }
    }

    ExpiredRuns(Source source) {
        this.source = source;
    }

    /** Counts what {@link #delete} would delete, and changes nothing. Reads all runs that are old enough. */
    public Count count() {
        return source.sweep(true);
    }

    /**
     * Deletes them for good, with their steps, signals and events, in small transactions with pauses between them; returns when
     * none is left. There is no way back, and their idempotency keys are free again. What became of slots of schedules goes too
     * when the longest of the times for ended runs is over, unless completed runs are kept for ever.
     */
    public Count delete() {
        return source.sweep(false);
    }
}
