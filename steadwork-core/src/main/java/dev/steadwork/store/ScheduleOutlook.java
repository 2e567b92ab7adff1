package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What lies before the schedules of a namespace.
 *
 * @param untilNext how long until the next one is due, zero if one is; null if none will be
 * @param awaited runs whose ends buffered slots wait for
 */
public record ScheduleOutlook(@Nullable Duration untilNext, Set<RunId> awaited) {

    public boolean isDue() {
        return untilNext != null && untilNext.isZero();
    }
}
