package dev.steadwork.store;

import dev.steadwork.RunError;
import dev.steadwork.StepKind;
import java.time.Instant;

/** A failed attempt of a step, kept beside the step's outcome (the last 100 of a step). */
public record AttemptRecord(
        StepRecord.Key key, StepKind kind, int attempt, RunError error, Instant startedAt, Instant finishedAt) {
    /** How many failed attempts of a step are kept. */
    public static final int KEPT = 100;
}
