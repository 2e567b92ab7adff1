package dev.steadwork;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One recorded step of a run.
 *
 * @param name the name, numbered from its second use in the run on ({@code charge#2})
 * @param kind what kind of durable call it was
 * @param position its place in the order of the run's durable calls, from 1
 * @param status how far it is
 * @param attempt the number of the last attempt
 * @param input what the step was asked to record as its input, or {@link Payload#NONE}
 * @param output the result, or {@link Payload#NONE}
 * @param error why it failed, if it did
 * @param startedAt when the last attempt began, by the database's clock
 * @param finishedAt when it ended; for a sleep, when it wakes
 * @param failedAttempts the failed attempts, oldest first; the last 100 are kept
 * @param childRun the run that the step started, if it is a child
 */
public record StepInfo(
        String name,
        StepKind kind,
        int position,
        StepStatus status,
        int attempt,
        Payload input,
        Payload output,
        @Nullable RunError error,
        @Nullable Instant startedAt,
        @Nullable Instant finishedAt,
        List<FailedAttempt> failedAttempts,
        @Nullable RunId childRun) {

    /**
     * An attempt that did not succeed.
     *
     * @param number the number of the attempt, from 1
     * @param error why it failed
     * @param startedAt when it began
     * @param finishedAt when it failed
     */
    public record FailedAttempt(int number, RunError error, Instant startedAt, Instant finishedAt) {}
}
