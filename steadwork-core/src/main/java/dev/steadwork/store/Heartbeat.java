package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker's sign of life.
 *
 * @param held the runs it executes whose leases are to be prolonged
 * @param active how many runs it executes
 * @param completed runs completed since the last heartbeat
 * @param failed runs failed since the last heartbeat
 * @param draining whether it has stopped claiming
 */
public record Heartbeat(
        String namespace, String worker, List<Held> held, int active, long completed, long failed, boolean draining) {

    /**
     * A run that the worker executes.
     *
     * @param step the step that is executing, if one is
     * @param stepFor for how long it has been executing
     */
    public record Held(
            RunId run,
            long epoch,
            Duration lease,
            @Nullable String step,
            @Nullable Duration stepFor) {}
}
