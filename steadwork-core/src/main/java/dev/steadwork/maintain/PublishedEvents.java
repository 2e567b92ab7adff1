package dev.steadwork.maintain;

import dev.steadwork.store.Store;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Removes events from the outbox that were published a week ago, some at a time. */
public record PublishedEvents(Store store, String namespace) implements Duty.Work {
    private static final Duration KEPT = Duration.ofDays(7);
    private static final int BATCH = 500;
    private static final Duration PAUSE = Duration.ofMillis(100);

    @Override
    public @Nullable Duration work() {
        return store.deletePublished(namespace, KEPT, BATCH) < BATCH ? null : PAUSE;
    }
}
