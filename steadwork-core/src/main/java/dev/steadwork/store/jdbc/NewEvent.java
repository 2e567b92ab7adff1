package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepStatus;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.By;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens to a run in a transaction.
 *
 * @param epoch under which a worker did it; null if none did
 */
record NewEvent(
        RunId run,
        EventKind kind,
        @Nullable Long epoch,
        @Nullable String worker,
        @Nullable String step,
        @Nullable Integer attempt,
        @Nullable String detail,
        By by) {

    private static final int MAX_DETAIL = 1_000;

    static NewEvent of(RunId run, EventKind kind, @Nullable String detail, By by) {
        return new NewEvent(run, kind, null, null, null, null, shortened(detail), by);
    }

    static NewEvent created(RunId run) {
        return of(run, EventKind.CREATED, null, By.NOBODY);
    }

    /** A worker took the run. */
    static List<NewEvent> leased(ClaimedRun run, String worker, Instant now) {
        var leased =
                new NewEvent(run.id(), EventKind.LEASED, run.epoch(), worker, null, run.attempt(), null, By.NOBODY);
        if (!run.startedAt().equals(now)) {
            return List.of(leased);
        }
        return List.of(
                leased,
                new NewEvent(run.id(), EventKind.STARTED, run.epoch(), worker, null, run.attempt(), null, By.NOBODY));
    }

    /** Its worker had it under this epoch and fell silent. */
    static NewEvent lost(RunId run, long epoch) {
        return new NewEvent(run, EventKind.LEASE_LOST, epoch, null, null, null, null, By.NOBODY);
    }

    /**
     * What a worker's write means, if it changed something.
     *
     * @param paused whether the run is paused now
     */
    static List<NewEvent> of(Write.Fenced write, boolean paused) {
        var events = new ArrayList<NewEvent>();
        if (write instanceof Write.SaveStep save) {
            step(save, save.step(), events);
        } else if (write instanceof Write.SaveAttempt save) {
            events.add(retried(save, save.attempt()));
        } else if (write instanceof Write.Finish finish) {
            events.add(event(finish, kind(finish.status()), null, null, line(finish.error())));
        } else if (write instanceof Write.Park park) {
            parked(park, paused, events);
        } else if (write instanceof Write.Pause && paused) {
            events.add(event(write, EventKind.PAUSED, null, null, null));
        } else if (write instanceof Write.Release) {
            events.add(event(write, EventKind.RELEASED, null, null, null));
        }
        return events;
    }

    private static void step(Write.Fenced write, StepRecord step, List<NewEvent> events) {
        if (step.status() == StepStatus.COMPLETED || step.status() == StepStatus.FAILED) {
            var kind = step.status() == StepStatus.COMPLETED ? EventKind.STEP_COMPLETED : EventKind.STEP_FAILED;
            events.add(event(write, kind, step.key().label(), step.attempt(), line(step.error())));
        }
    }

    private static NewEvent retried(Write.Fenced write, AttemptRecord failed) {
        return event(write, EventKind.RETRIED, failed.key().label(), failed.attempt(), line(failed.error()));
    }

    private static void parked(Write.Park park, boolean paused, List<NewEvent> events) {
        if (park.failedAttempt() != null) {
            events.add(retried(park, park.failedAttempt()));
        } else if (park.error() != null) {
            events.add(event(park, EventKind.RETRIED, null, park.attempt() - 1, line(park.error())));
        }
        var sleep = park.sleep();
        var awaits = park.awaits();
        events.add(event(
                park,
                paused ? EventKind.PAUSED : EventKind.SLEPT,
                sleep == null ? null : sleep.key().label(),
                null,
                awaits == null ? null : "awaits " + awaits.message()));
    }

    static NewEvent completed(RunId run, long epoch, StepRecord step) {
        return new NewEvent(
                run, EventKind.STEP_COMPLETED, epoch, null, step.key().label(), step.attempt(), null, By.NOBODY);
    }

    private static NewEvent event(
            Write.Fenced write,
            EventKind kind,
            @Nullable String step,
            @Nullable Integer attempt,
            @Nullable String detail) {
        return new NewEvent(write.run(), kind, write.epoch(), null, step, attempt, shortened(detail), By.NOBODY);
    }

    private static EventKind kind(RunStatus end) {
        return switch (end) {
            case COMPLETED -> EventKind.SUCCEEDED;
            case FAILED -> EventKind.FAILED;
            default -> EventKind.CANCELLED;
        };
    }

    private static @Nullable String line(@Nullable RunError error) {
        return error == null ? null : error.line();
    }

    private static @Nullable String shortened(@Nullable String text) {
        if (text == null) {
            return null;
        }
        var kept = Rows.storable(text);
        return kept.length() <= MAX_DETAIL
                ? kept
                : Rows.storable("%s... (trimmed, it has %d characters)"
                        .formatted(kept.substring(0, MAX_DETAIL), kept.length()));
    }
}
