package dev.steadwork.execute;

import dev.steadwork.DeadLetter;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.DeadLetters;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import java.util.Map;

/** Makes the run that a failed run leaves behind for its dead-letter workflow. */
public record DeadLetterRuns(String namespace, Payloads payloads) implements DeadLetters {
    @Override
    public NewRun of(String deadLetterType, RunId failed, String failedType, Payload input, RunError error) {
        var letter = new DeadLetter(failed, failedType, input, error);
        return new NewRun(
                RunIds.beside(failed),
                namespace,
                deadLetterType,
                null,
                null,
                payloads.codec().encode(letter), // not limited: it holds an input that was accepted
                0,
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                null,
                null,
                null,
                null,
                TriggerCheck.ACCEPT,
                Map.of(),
                new RunInfo.Parent(failed, null));
    }
}
