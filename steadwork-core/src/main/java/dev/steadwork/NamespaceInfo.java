package dev.steadwork;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A namespace and its settings.
 *
 * @param createdAt null if it was never created: it then works with the defaults
 * @param updatedAt when a setting was changed last
 * @param disabledAt since when it takes no triggers and hands out no runs; null while it does
 * @param retention for how long runs are kept
 * @param audit whether what happens to its runs is recorded, see {@link RunHandle#events()}
 * @param outbox which kinds of events are published; empty: none
 * @param payloadLimits instead of those that a process was opened with; null: those
 * @param retry for workflows that set no policy of their own; null: {@link RetryPolicy#defaults()}
 */
public record NamespaceInfo(
        String name,
        @Nullable Instant createdAt,
        @Nullable Instant updatedAt,
        @Nullable Instant disabledAt,
        Retention retention,
        boolean audit,
        Set<EventKind> outbox,
        @Nullable PayloadLimits payloadLimits,
        @Nullable RetryPolicy retry) {

    /**
     * For how long runs are kept after they ended, or were deleted; null: for ever.
     *
     * @param deleted after {@link RunHandle#delete}, whatever the run's status
     */
    public record Retention(
            @Nullable Duration completed,
            @Nullable Duration failed,
            @Nullable Duration cancelled,
            @Nullable Duration deleted) {
        /** Everything is kept for ever. */
        public static final Retention FOREVER = new Retention(null, null, null, null);
    }

    public NamespaceInfo {
        outbox = Set.copyOf(outbox);
    }

    /** A namespace that was never created. */
    public static NamespaceInfo defaults(String name) {
        return new NamespaceInfo(name, null, null, null, Retention.FOREVER, false, Set.of(), null, null);
    }

    /** Whether it takes no triggers and hands out no runs. */
    public boolean isDisabled() {
        return disabledAt != null;
    }
}
