package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The final outcome of a step; insert-only.
 *
 * @param key which step of the run
 * @param status COMPLETED or FAILED; RETRYING only in what a claim returns, for a step whose attempts so far all failed
 * @param attempt the number of the last attempt
 * @param wakeAt when a sleep ends; null in a {@link Write.Park}, whose wake time it takes
 */
public record StepRecord(
        Key key,
        StepKind kind,
        StepStatus status,
        int attempt,
        Payload input,
        Payload output,
        @Nullable RunError error,
        @Nullable Instant startedAt,
        @Nullable Instant finishedAt,
        @Nullable Instant wakeAt) {

    /**
     * Which step of a run.
     *
     * @param name the name as the handler gave it
     * @param occurrence how often the name was used before in the run, plus one
     * @param position the place in the order of durable calls, from 1
     */
    public record Key(String name, int occurrence, int position) {
        private static final Pattern NUMBERED = Pattern.compile(".*#\\d+");

        /** The name as people see it, unique in a run: {@code charge}, {@code charge#2}, {@code #7#1} of {@code #7}. */
        public String label() {
            return occurrence == 1 && !NUMBERED.matcher(name).matches() ? name : name + "#" + occurrence;
        }
    }
}
