package dev.steadwork;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What became of one slot of a schedule.
 *
 * @param slot the time that the cron expression names, without jitter; for a manual trigger the time of the trigger
 * @param outcome what happened
 * @param cause why it was looked at
 * @param run the run, if one was fired
 * @param error why it could not be fired
 * @param at when it was decided
 */
public record ScheduleFiring(
        Instant slot,
        Outcome outcome,
        Cause cause,
        @Nullable RunId run,
        @Nullable String error,
        Instant at) {

    /** What happened. */
    public enum Outcome {
        /** A run was created. */
        FIRED,
        /** It was let pass because of the {@link OverlapPolicy}. */
        SKIPPED,
        /** It waits for the end of the run before it. */
        BUFFERED,
        /** No run could be created; {@link ScheduleFiring#error} says why. */
        FAILED
    }

    /** Why a slot was looked at. */
    public enum Cause {
        /** Its time came. */
        CRON,
        /** {@link Schedules#trigger}. */
        TRIGGER,
        /** {@link Schedules#backfill}. */
        BACKFILL
    }
}
