package dev.steadwork.maintain;

import dev.steadwork.EventPublisher;
import java.time.Duration;

/** Keeps from calling an endpoint that is down: open after failures in a row, then one call at a time to see if it is back. */
final class Circuit {
    private static final Duration WHILE_TRYING = Duration.ofSeconds(1);

    private final String endpoint;
    private final int failuresToOpen;
    private final Duration openFor;
    private int failures;
    private long openUntilNanos;
    private boolean trying;

    Circuit(String endpoint, int failuresToOpen, Duration openFor) {
        this.endpoint = endpoint;
        this.failuresToOpen = failuresToOpen;
        this.openFor = openFor;
    }

    /** Before a call, which is followed by one of the other two. */
    synchronized void enter() {
        if (failures < failuresToOpen) {
            return;
        }
        long left = openUntilNanos - System.nanoTime();
        if (left > 0 || trying) {
            throw new EventPublisher.NotNow(
                    left > 0 ? Duration.ofNanos(left) : min(openFor, WHILE_TRYING),
                    "The %s failed %d times in a row; nothing is sent for a while.".formatted(endpoint, failures));
        }
        trying = true;
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    synchronized void succeeded() {
        failures = 0;
        trying = false;
    }

    synchronized void failed() {
        failures++;
        trying = false;
        openUntilNanos = System.nanoTime() + openFor.toNanos();
    }
}
