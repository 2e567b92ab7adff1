package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;

/** Makes the run that a failed run leaves behind, for a store that fails runs by itself. */
@FunctionalInterface
public interface DeadLetters {
    /** The dead letter of this failed run, for this dead-letter workflow. */
    NewRun of(String deadLetterType, RunId failed, String failedType, Payload input, RunError error);
}
