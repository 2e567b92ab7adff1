package dev.steadwork.store;

import dev.steadwork.RunId;
import java.util.Collection;
import java.util.List;

/**
 * Whose timers to look at.
 *
 * @param executing runs that the asking worker executes itself: their leases are not taken from it
 * @param limit at most so many runs
 */
public record PromoteRequest(String namespace, List<String> queues, Collection<RunId> executing, int limit) {}
