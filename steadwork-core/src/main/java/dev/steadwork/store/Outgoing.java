package dev.steadwork.store;

import dev.steadwork.OutboxEvent;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event that somebody is to send.
 *
 * @param failures how often it was tried in vain
 */
public record Outgoing(OutboxEvent event, int failures) {

    /**
     * What is to be sent now.
     *
     * @param untilNext when there may be more, if that is known
     */
    public record Batch(List<Outgoing> events, @Nullable Duration untilNext) {}

    /**
     * What became of it.
     *
     * @param delay when it may be tried again; only for those that wait
     * @param error why it was not published
     */
    public record Settled(
            Outgoing outgoing,
            Outcome outcome,
            Duration delay,
            @Nullable String error) {
        /** Whether it is to be tried again. */
        public boolean waits() {
            return outcome == Outcome.FAILED || outcome == Outcome.DEFERRED;
        }
    }

    /** What became of an attempt. */
    public enum Outcome {
        PUBLISHED,
        /** Tried in vain, and to be tried again. */
        FAILED,
        /** Tried in vain, and given up. */
        DEAD,
        /** Not tried. */
        DEFERRED
    }
}
