package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A change that shares its transaction with others. */
public sealed interface Write {
    /** The run that is changed or created. */
    RunId run();

    /**
     * Creates a run. Answered by a {@link TriggerResult}.
     *
     * @param starter who executes it from the beginning, if the store can do that; otherwise, and if null, it waits for a claim
     */
    record Trigger(NewRun newRun, @Nullable Starter starter) implements Write {
        public Trigger(NewRun newRun) {
            this(newRun, null);
        }

        @Override
        public RunId run() {
            return newRun.id();
        }
    }

    /** A worker with room for a run that is being created. */
    record Starter(String worker, Duration lease) {}

    /** A change by the worker that holds the run under this epoch. Answered by an {@link Ack}. */
    sealed interface Fenced extends Write {
        long epoch();
    }

    /**
     * Keeps a step: the outcome, or that it waits, in whose place its outcome is kept later. Kept once: the same step again
     * is a success and changes nothing. Refused as InvalidArgument if the child's workflow is not registered.
     *
     * @param child the child that is started with it, if it is one
     * @param signal the number of the signal that it takes, if it does
     */
    record SaveStep(
            RunId run,
            long epoch,
            StepRecord step,
            @Nullable NewRun child,
            @Nullable Integer signal) implements Fenced {
        public SaveStep(RunId run, long epoch, StepRecord step) {
            this(run, epoch, step, null, null);
        }
    }

    /** Keeps a failed attempt of a step that will be tried again. */
    record SaveAttempt(RunId run, long epoch, AttemptRecord attempt) implements Fenced {}

    /**
     * RUNNING → COMPLETED, FAILED or CANCELLED. Refused if cancellation was asked for and this is not CANCELLED.
     *
     * @param parent the step of another run that waits for this end, if one does
     * @param endsChildren whether children that end with the run may be left
     */
    record Finish(
            RunId run,
            long epoch,
            RunStatus status,
            Payload output,
            @Nullable RunError error,
            @Nullable NewRun deadLetter,
            RunInfo.@Nullable Parent parent,
            boolean endsChildren)
            implements Fenced {
        public Finish(
                RunId run,
                long epoch,
                RunStatus status,
                Payload output,
                @Nullable RunError error,
                @Nullable NewRun deadLetter) {
            this(run, epoch, status, output, error, deadLetter, null, false);
        }
    }

    /**
     * RUNNING → SLEEPING (PAUSED, if a pause was asked for) until the wake time or the deadline, whichever is first, with
     * its timer in the same transaction. Refused if cancellation was asked for.
     *
     * @param sleep the step to keep with it: its wake time is the run's; null if there is none or it is kept already
     * @param failedAttempt the attempt whose retry is waited for, if that is the reason
     * @param attempt the run's attempt from now on
     * @param error why the run is tried again, if that is the reason
     * @param awaits what wakes it earlier, if anything does
     */
    record Park(
            RunId run,
            long epoch,
            Wake wake,
            @Nullable StepRecord sleep,
            @Nullable AttemptRecord failedAttempt,
            int attempt,
            @Nullable RunError error,
            @Nullable Awaits awaits)
            implements Fenced {
        public Park(
                RunId run,
                long epoch,
                Wake wake,
                @Nullable StepRecord sleep,
                @Nullable AttemptRecord failedAttempt,
                int attempt,
                @Nullable RunError error) {
            this(run, epoch, wake, sleep, failedAttempt, attempt, error, null);
        }

        /** The same, but for another time; not for one with a sleep to keep, whose wake time it is. */
        public Park wakingAt(Wake other) {
            return new Park(run, epoch, other, sleep, failedAttempt, attempt, error, awaits);
        }
    }

    /**
     * What wakes a parked run before its time.
     *
     * @param message the message that does, or {@link #ANY}
     * @param seen how many messages the worker knows of: if there are more, the run does not sleep at all
     */
    record Awaits(String message, int seen) {
        /** Every message. */
        public static final String ANY = "*";

        /** A signal of this name. */
        public static String signal(String name) {
            return "signal:" + name;
        }

        /** The end of the child that was started by the step with this label. */
        public static String child(String label) {
            return "child:" + label;
        }
    }

    /** RUNNING → PAUSED, if the request still stands; otherwise → PENDING. */
    record Pause(RunId run, long epoch) implements Fenced {}

    /** RUNNING → PENDING, handed back: raises the epoch, so that nothing of this worker is accepted any more. */
    record Release(RunId run, long epoch) implements Fenced {}

    /** When a parked run wakes: at a time, or a while after the transaction, or (both null) only by what it awaits. */
    record Wake(@Nullable Instant at, @Nullable Duration after) {
        public static final Wake NEVER = new Wake(null, null);

        public static Wake at(Instant time) {
            return new Wake(time, null);
        }

        public static Wake after(Duration delay) {
            return new Wake(null, delay);
        }
    }
}
