package dev.steadwork;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A schedule at a moment.
 *
 * @param id its name in the namespace
 * @param target what it triggers
 * @param cron when: five or six fields, or a form such as {@code @daily}
 * @param zone the time zone in which the fields are read
 * @param rules how slots are treated
 * @param enabled whether it fires
 * @param state how it stands
 * @param revision how often people changed it
 */
public record ScheduleInfo(
        String id,
        Target target,
        String cron,
        String zone,
        Rules rules,
        boolean enabled,
        State state,
        long revision,
        Instant createdAt,
        Instant updatedAt) {

    /**
     * What is triggered; null means: what the workflow says.
     *
     * @param check what must be known of the workflow when it fires
     */
    public record Target(
            String workflow,
            TriggerCheck check,
            @Nullable String queue,
            int priority,
            @Nullable String version,
            Map<String, String> tags) {}

    /**
     * How slots are treated.
     *
     * @param maxCatchup how many missed slots are made up for
     * @param overlap what happens while the last run has not ended
     * @param jitter by how much at most a slot is fired later
     */
    public record Rules(int maxCatchup, OverlapPolicy overlap, Duration jitter) {}

    /**
     * How it stands.
     *
     * @param nextSlot the next slot; null if it is disabled, stopped by an error, or has no more slots
     * @param bufferedSlot the slot that waits for the end of {@code lastRun}
     * @param lastSlot the newest slot whose time came
     * @param lastRun the run that was fired last
     * @param lastError why it could not fire, until it fires again
     */
    public record State(
            @Nullable Instant nextSlot,
            @Nullable Instant bufferedSlot,
            @Nullable Instant lastSlot,
            @Nullable RunId lastRun,
            @Nullable String lastError) {}

    /** The name of the workflow that it triggers. */
    public String workflow() {
        return target.workflow();
    }

    /** The next slot; null if it is disabled, stopped by an error, or has no more slots. */
    public @Nullable Instant nextSlot() {
        return state.nextSlot();
    }

    /** The run that was fired last, or null. */
    public @Nullable RunId lastRun() {
        return state.lastRun();
    }

    /** Why it could not fire; null if all is well. */
    public @Nullable String lastError() {
        return state.lastError();
    }
}
