package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import java.time.Instant;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What is recorded of a step. One that waits (for a signal or a child, or a registered undo step) is recorded as WAITING and
 * once more with its outcome; all others only with their outcome.
 *
 * @param key which step of the run
 * @param status WAITING, COMPLETED or FAILED; RETRYING only in what a claim returns, for a step whose attempts so far all failed
 * @param attempt the number of the last attempt
 * @param childRun the child that the step started, if it is one
 * @param wakeAt when a sleep ends or a signal is waited for no longer; null in a {@link Write.Park}, whose wake time it takes
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
        @Nullable Instant wakeAt,
        @Nullable RunId childRun) {

    /** A step that is no child. */
    public StepRecord(
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
        this(key, kind, status, attempt, input, output, error, startedAt, finishedAt, wakeAt, null);
    }

    /**
     * Which step of a run.
     *
     * @param name the name as the handler gave it
     * @param occurrence how often the name was used before in the run, plus one
     * @param position the place in the order of durable calls, from 1
     */
    public record Key(String name, int occurrence, int position) {
        /** The occurrence of the only step of its name that is not a call: the decision to compensate. */
        public static final int DECISION = 0;

        private static final Pattern NUMBERED = Pattern.compile("(.*)#(\\d{1,9})", Pattern.DOTALL);

        /** The key of a label, without its position. */
        public static Key ofLabel(String label) {
            var numbered = NUMBERED.matcher(label);
            return numbered.matches()
                    ? new Key(numbered.group(1), Integer.parseInt(numbered.group(2)), 0)
                    : new Key(label, 1, 0);
        }

        /** The name as people see it, unique in a run: {@code charge}, {@code charge#2}, {@code #7#1} of {@code #7}. */
        public String label() {
            if (occurrence == DECISION) {
                return name;
            }
            return occurrence == 1 && !looksNumbered() ? name : name + "#" + occurrence;
        }

        private boolean looksNumbered() {
            return name.indexOf('#') >= 0 && NUMBERED.matcher(name).matches();
        }
    }
}
