package dev.steadwork.maintain;

import dev.steadwork.ExpiredRuns;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.RunId;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Deletes runs that are no longer kept, a part at a time. It rests as long as it works, so that others have the database at
 * least half of the time.
 */
public final class Retention implements Duty.Work, ExpiredRuns.Source {
    private static final Duration SHORTEST_REST = Duration.ofMillis(5);

    private final Store store;
    private final String namespace;
    private @Nullable RunId last;

    public Retention(Store store, String namespace) {
        this.store = store;
        this.namespace = namespace;
    }

    @Override
    public @Nullable Duration work() {
        var keep = store.settings(namespace).retention();
        if (keep.equals(NamespaceInfo.Retention.FOREVER)) {
            last = null;
            return null;
        }
        long begin = System.nanoTime();
        last = store.sweep(namespace, keep, last, false).last();
        return last == null ? null : restAfter(begin);
    }

    @Override
    public ExpiredRuns.Count sweep(boolean countOnly) {
        var keep = store.findNamespace(namespace).retention();
        if (keep.equals(NamespaceInfo.Retention.FOREVER)) {
            return ExpiredRuns.Count.NONE;
        }
        var all = ExpiredRuns.Count.NONE;
        @Nullable RunId part = null;
        do {
            long begin = System.nanoTime();
            var swept = store.sweep(namespace, keep, part, countOnly);
            all = all.plus(swept.expired());
            part = swept.last();
            if (part != null && !countOnly) {
                LockSupport.parkNanos(restAfter(begin).toNanos());
            }
        } while (part != null);
        return all;
    }

    private static Duration restAfter(long beginNanos) {
        var worked = Duration.ofNanos(System.nanoTime() - beginNanos);
        return worked.compareTo(SHORTEST_REST) > 0 ? worked : SHORTEST_REST;
    }
}
