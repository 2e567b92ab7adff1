package dev.steadwork.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The next slot of a schedule; both null if there is none.
 *
 * @param slot the time that the cron expression names
 * @param due when it is to be fired: the slot plus jitter
 */
public record NextSlot(@Nullable Instant slot, @Nullable Instant due) {
    public static final NextSlot NONE = new NextSlot(null, null);
}
