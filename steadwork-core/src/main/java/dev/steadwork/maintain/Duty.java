package dev.steadwork.maintain;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something to be done now and then; safe to be done by every process at once.
 *
 * @param interval how often it looks by itself
 */
public record Duty(String name, Duration interval, Work work) {

    /** What is done. */
    @FunctionalInterface
    public interface Work {
        /** Does what is due and tells in how long more is, or null if it knows of nothing before the interval is over. */
        @Nullable
        Duration work();
    }
}
