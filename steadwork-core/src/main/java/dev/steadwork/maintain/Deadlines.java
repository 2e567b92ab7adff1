package dev.steadwork.maintain;

import dev.steadwork.store.DeadLetters;
import dev.steadwork.store.Store;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Fails runs that wait past their deadline; those that execute are stopped by their worker. */
public record Deadlines(Store store, String namespace, DeadLetters deadLetters) implements Duty.Work {
    @Override
    public @Nullable Duration work() {
        // A full batch may not have been all.
        return store.expireDeadlines(namespace, deadLetters) > 0 ? Duration.ZERO : null;
    }
}
