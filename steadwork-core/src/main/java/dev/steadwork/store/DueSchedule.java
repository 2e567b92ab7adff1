package dev.steadwork.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule that needs attention.
 *
 * @param nextSlot the first slot that was not decided on
 * @param bufferedSlot the slot that waits for the end of the last run
 * @param active whether the last run has not ended
 */
public record DueSchedule(
        String id,
        ScheduleSettings settings,
        @Nullable Instant nextSlot,
        @Nullable Instant bufferedSlot,
        boolean active) {}
