package dev.steadwork.maintain;

import dev.steadwork.store.Store;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Marks workers OFFLINE that have fallen silent, and forgets those that have been so for long. */
public record SilentWorkers(Store store, String namespace) implements Duty.Work {
    /** Long enough to be looked at after a long weekend. */
    static final Duration FORGET_AFTER = Duration.ofDays(7);

    @Override
    public @Nullable Duration work() {
        store.expireWorkers(namespace, FORGET_AFTER);
        return null;
    }
}
