package dev.steadwork.store;

import dev.steadwork.ScheduleFiring.Outcome;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done with a schedule that is due.
 *
 * @param decisions on its slots, in order
 * @param next what comes then
 * @param bufferedSlot the slot that waits from now on
 * @param cancelsLast whether the last run is to be cancelled
 */
public record FirePlan(
        List<Decision> decisions, NextSlot next, @Nullable Instant bufferedSlot, boolean cancelsLast) {

    /** What becomes of a slot: FIRED, SKIPPED or BUFFERED. */
    public record Decision(Instant slot, Outcome outcome) {}

    /** Decides; called within the transaction that then does so. */
    @FunctionalInterface
    public interface Planner {
        /** @throws RuntimeException if the schedule cannot be read; it is stopped with that error then */
        FirePlan plan(DueSchedule schedule, Instant now);
    }
}
