package dev.steadwork.claim;

import dev.steadwork.RunId;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Which queues have a limit over all workers, as it was last seen. Looked up once per heartbeat, so that claims of queues
 * without one need not ask.
 */
final class LimitedQueues {
    private final Store store;
    private final String namespace;
    private final Duration interval;
    private volatile Set<String> seen = Set.of();
    private volatile long seenAtNanos = System.nanoTime();
    /** Of the claiming thread. */
    private Set<String> heeded = Set.of();

    LimitedQueues(Store store, String namespace, Duration interval) {
        this.store = store;
        this.namespace = namespace;
        this.interval = interval;
    }

    /** Before the first claim: all that this worker executes will have been claimed under the limits. */
    void start() {
        look();
        heeded = seen;
    }

    void lookIfDue() {
        if (System.nanoTime() - seenAtNanos >= interval.toNanos()) {
            look();
        }
    }

    private void look() {
        seenAtNanos = System.nanoTime();
        seen = Set.copyOf(store.limits(namespace).keySet());
    }

    /**
     * The queues to be claimed from under their limits. What was claimed of a queue before its limit was known counts from
     * then on; the thread that claims asks, so there is no claim without the limit afterwards.
     */
    Set<String> heed(Supplier<Collection<RunId>> executing) {
        var now = seen;
        if (!now.equals(heeded)) {
            for (var queue : now) {
                if (!heeded.contains(queue)) {
                    store.countRunning(namespace, queue, executing.get());
                }
            }
            heeded = now;
        }
        return now;
    }

    /** Whether it had a limit when that was last looked up. */
    boolean contains(String queue) {
        return seen.contains(queue);
    }

    /** The queue turned out to have no limit any more. */
    void forget(String queue) {
        var left = new HashSet<>(heeded);
        left.remove(queue);
        heeded = Set.copyOf(left);
        seen = heeded;
    }
}
