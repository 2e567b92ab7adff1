package dev.steadwork.store;

import dev.steadwork.Payload;
import org.jspecify.annotations.Nullable;

/**
 * What waits in a run's inbox under a name.
 *
 * @param inbox how many messages the run has had
 * @param signal the oldest signal of that name that was not taken; null if there is none
 */
public record Received(int inbox, @Nullable Signal signal) {
    /** A signal and its number in the run. */
    public record Signal(int number, Payload payload) {}
}
