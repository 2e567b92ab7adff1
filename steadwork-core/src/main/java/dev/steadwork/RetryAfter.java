package dev.steadwork;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a step or handler to say: try again, but not before this long. It wins over the policy's interval (a server's
 * {@code Retry-After} header goes here); the maximum number of attempts still holds.
 */
public class RetryAfter extends RuntimeException {
    private final Duration delay;

    public RetryAfter(Duration delay, String message) {
        this(delay, message, null);
    }

    public RetryAfter(Duration delay, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.delay = Check.notNegative("RetryAfter delay", delay);
    }

    /** How long to wait before the next attempt. */
    public Duration delay() {
        return delay;
    }
}
