package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Whose timers to look at.
 *
 * @param executing runs that the asking worker executes itself: their leases are not taken from it
 * @param limit at most so many runs
 * @param lookAhead a timer that is due later than this need not be told of
 */
public record PromoteRequest(
        String namespace, List<String> queues, Collection<RunId> executing, int limit, Duration lookAhead) {

    /** Tells of the next timer however late it is due. */
    public PromoteRequest(String namespace, List<String> queues, Collection<RunId> executing, int limit) {
        this(namespace, queues, executing, limit, Duration.ofDays(36_500));
    }
}
