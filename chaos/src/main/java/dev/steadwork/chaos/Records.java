package dev.steadwork.chaos;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the database has in the end.
 *
 * @param runs by id
 * @param steps by run, then by name
 * @param firings of the schedule, by slot
 * @param effects of transactional steps
 */
record Records(
        Map<String, Run> runs, Map<String, Map<String, Step>> steps, List<Firing> firings, List<Effect> effects) {
    /**
     * A run.
     *
     * @param key its idempotency key, empty without
     */
    record Run(String id, String type, String status, long epoch, String key, String output, String error) {
        boolean hasEnded() {
            return status.equals("COMPLETED") || status.equals("FAILED") || status.equals("CANCELLED");
        }
    }

    /**
     * A step.
     *
     * @param wakeMicros when a sleep or a wait ends, by the workers' clock; null if it has no time
     * @param child the run that it started, empty without
     */
    record Step(
            String run,
            String name,
            String kind,
            String status,
            String value,
            @Nullable Long wakeMicros,
            String child) {}

    /** A slot of the schedule, in microseconds since 1970, and the run it fired. */
    record Firing(long slotMicros, String outcome, String run) {}

    /** What a transactional step has done. */
    record Effect(String run, String value) {}

    Map<String, Step> stepsOf(String run) {
        return steps.getOrDefault(run, Map.of());
    }
}
