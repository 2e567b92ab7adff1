package dev.steadwork.store;

import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps schedules and fires them. The database's clock decides what is due. */
public interface ScheduleStore {
    /** The database's clock. */
    Instant now();

    /**
     * Adds a schedule.
     *
     * @throws dev.steadwork.Conflict if the id is taken
     * @throws dev.steadwork.PreconditionFailed if its workflow must be registered and is not
     */
    void create(String namespace, String id, ScheduleSettings settings, NextSlot next);

    /** The schedule, or null if there is none. */
    @Nullable
    ScheduleInfo find(String namespace, String id);

    /** Schedules by id, after this one if it is given. */
    List<ScheduleInfo> list(String namespace, @Nullable String after, int limit);

    /**
     * Replaces the settings and forgets the last error. A slot that waits is skipped unless the schedule still buffers.
     *
     * @param seen the schedule for which the settings and the next slot were chosen
     * @return false if the schedule is gone, was changed or has another next slot; nothing was changed then
     */
    boolean update(String namespace, ScheduleInfo seen, ScheduleSettings settings, NextSlot next);

    /** Deletes the schedule and leaves its firings; returns whether there was one. */
    boolean delete(String namespace, String id);

    /**
     * Fires the schedule once, beside its slots.
     *
     * @return what became of the run, or null if there is no such schedule
     */
    @Nullable
    TriggerResult trigger(String namespace, String id);

    /**
     * Fires those of the slots that were not fired before: all or, if one is refused, none.
     *
     * @return what became of the runs, in the order of the slots; null if there is no such schedule
     */
    @Nullable
    List<TriggerResult> backfill(String namespace, String id, List<Instant> slots);

    /** What became of the slots, newest first, older than {@code before} if it is given. */
    List<ScheduleFiring> firings(String namespace, String id, @Nullable Instant before, int limit);

    /**
     * Deletes some hundred of the firings that were decided longer ago than this, but none of a slot that still waits.
     *
     * @return whether there may be more
     */
    boolean forgetFirings(String namespace, Duration kept);

    /** What lies before; one statement. */
    ScheduleOutlook outlook(String namespace);

    /**
     * Fires schedules that are due, up to so many, each once whoever else does so at the same time: claim, runs, firings and
     * advance are one transaction. One that cannot be fired is stopped with its error and does not disturb the others.
     *
     * @return how many were due and are settled
     */
    int fire(String namespace, FirePlan.Planner planner, int limit);
}
