package dev.steadwork.maintain;

import dev.steadwork.ExpiredRuns;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.RunId;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.Arrays;
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
    private boolean runsAreDone;

    public Retention(Store store, String namespace) {
        this.store = store;
        this.namespace = namespace;
    }

    @Override
    public @Nullable Duration work() {
        var keep = store.settings(namespace).retention();
        if (keep.equals(NamespaceInfo.Retention.FOREVER)) {
            last = null;
            runsAreDone = false;
            return null;
        }
        long begin = System.nanoTime();
        if (runsAreDone) {
            runsAreDone = forgetFirings(keep);
            return runsAreDone ? restAfter(begin) : null;
        }
        last = store.sweep(namespace, keep, last, false).last();
        runsAreDone = last == null;
        return restAfter(begin);
    }

    /** What became of slots is kept as long as any run of them may be, for ever if those that completed are. */
    private boolean forgetFirings(NamespaceInfo.Retention keep) {
        var longest = keep.completed();
        if (longest == null) {
            return false;
        }
        for (var other : Arrays.asList(keep.failed(), keep.cancelled())) {
            longest = other != null && other.compareTo(longest) > 0 ? other : longest;
        }
        return store.schedules().forgetFirings(namespace, longest);
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
        for (boolean more = !countOnly; more; ) {
            long begin = System.nanoTime();
            more = forgetFirings(keep);
            if (more) {
                LockSupport.parkNanos(restAfter(begin).toNanos());
            }
        }
        return all;
    }

    private static Duration restAfter(long beginNanos) {
        var worked = Duration.ofNanos(System.nanoTime() - beginNanos);
        return worked.compareTo(SHORTEST_REST) > 0 ? worked : SHORTEST_REST;
    }
}
