package dev.steadwork;

import java.time.Duration;

/**
 * Sends events of the outbox somewhere. Called by several threads at once, never for two events of one run at a time.
 *
 * <p>An event is published at least once: after a crash, or if the answer got lost, it comes again with the same {@link
 * OutboxEvent#id()}. {@code dev.steadwork.codec.CloudEventFormat} makes CloudEvents of them.
 */
@FunctionalInterface
public interface EventPublisher {
    /**
     * Returns when the event has safely arrived; within a minute, or it is sent again.
     *
     * @throws NotNow if nothing was tried: the event waits and nothing is counted
     * @throws PermanentFailure if this event will never be taken: it goes to the dead ones at once
     * @throws RetryAfter if it failed and is to be tried again after that time
     * @throws Exception if it failed; it is tried again by the policy of the outbox
     */
    void publish(OutboxEvent event) throws Exception;

    /** Thrown by a publisher that did not try, because it knows that it would be in vain for a while. */
    final class NotNow extends RuntimeException {
        private final Duration delay;

        public NotNow(Duration delay, String message) {
            super(message, null, false, false);
            this.delay = Check.notNegative("NotNow delay", delay);
        }

        /** How long to wait before asking again. */
        public Duration delay() {
            return delay;
        }
    }
}
