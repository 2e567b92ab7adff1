package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.store.Signals;
import java.util.HashSet;
import java.util.Set;

/** What a transaction brought about that others want to hear of, once it has committed. */
final class Effects {
    private final Set<Integer> ready = new HashSet<>();
    private final Set<Integer> ended = new HashSet<>();
    private final Set<Integer> requested = new HashSet<>();

    /** Something is ready in the queue with this topic, or will be soon. */
    void ready(int topic) {
        ready.add(topic);
    }

    void ended(RunId run) {
        ended.add(Signals.hash(run));
    }

    /** Something was asked of a run that a worker may be executing. */
    void requested(RunId run) {
        requested.add(Signals.hash(run));
    }

    /** For those who add to them on their own. */
    Set<Integer> readyTopics() {
        return ready;
    }

    void tell(JdbcStore store) {
        if (!ready.isEmpty()) {
            store.tellReady(ready);
        }
        if (!ended.isEmpty()) {
            store.tellEnded(ended);
        }
        requested.forEach(store::tellRequested);
    }
}
