package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A change that shares its transaction with others. */
public sealed interface Write {
    /** The run that is changed or created. */
    RunId run();

    /** Creates a run. Answered by a {@link TriggerResult}. */
    record Trigger(NewRun newRun) implements Write {
        @Override
        public RunId run() {
            return newRun.id();
        }
    }

    /** A change by the worker that holds the run under this epoch. Answered by an {@link Ack}. */
    sealed interface Fenced extends Write {
        long epoch();
    }

    /** Keeps the final outcome of a step. Kept once: the same step again is a success and changes nothing. */
    record SaveStep(RunId run, long epoch, StepRecord step) implements Fenced {}

    /** Keeps a failed attempt of a step that will be tried again. */
    record SaveAttempt(RunId run, long epoch, AttemptRecord attempt) implements Fenced {}

    /** RUNNING → COMPLETED, FAILED or CANCELLED. Refused if cancellation was asked for and this is not CANCELLED. */
    record Finish(
            RunId run,
            long epoch,
            RunStatus status,
            Payload output,
            @Nullable RunError error,
            @Nullable NewRun deadLetter)
            implements Fenced {}

    /**
     * RUNNING → SLEEPING (PAUSED, if a pause was asked for) until the wake time or the deadline, whichever is first, with
     * its timer in the same transaction. Refused if cancellation was asked for.
     *
     * @param sleep the step to keep with it: its wake time is the run's; null if there is none or it is kept already
     * @param failedAttempt the attempt whose retry is waited for, if that is the reason
     * @param attempt the run's attempt from now on
     * @param error why the run is tried again, if that is the reason
     */
    record Park(
            RunId run,
            long epoch,
            Wake wake,
            @Nullable StepRecord sleep,
            @Nullable AttemptRecord failedAttempt,
            int attempt,
            @Nullable RunError error)
            implements Fenced {}

    /** RUNNING → PAUSED, if the request still stands; otherwise → PENDING. */
    record Pause(RunId run, long epoch) implements Fenced {}

    /** RUNNING → PENDING, handed back: raises the epoch, so that nothing of this worker is accepted any more. */
    record Release(RunId run, long epoch) implements Fenced {}

    /** When a parked run wakes: at a time, or a while after the transaction; exactly one of the two is given. */
    record Wake(@Nullable Instant at, @Nullable Duration after) {
        public static Wake at(Instant time) {
            return new Wake(time, null);
        }

        public static Wake after(Duration delay) {
            return new Wake(null, delay);
        }
    }
}
