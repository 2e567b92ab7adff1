package dev.steadwork.trigger;

import dev.steadwork.RunId;
import dev.steadwork.store.Signals;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The runs whose ends are waited for, found by run and by the hash that a hint brings. */
final class Awaited {
    private final Map<Integer, Map<RunId, AwaitedEnd>> byHash = new ConcurrentHashMap<>();

    /** What stands for the run's end; the given one if nobody waits for it yet. */
    AwaitedEnd join(RunId run, AwaitedEnd mine) {
        var all = byHash.merge(Signals.hash(run), Map.of(run, mine), Awaited::joined);
        return all.getOrDefault(run, mine);
    }

    private static Map<RunId, AwaitedEnd> joined(Map<RunId, AwaitedEnd> existing, Map<RunId, AwaitedEnd> added) {
        var all = new HashMap<>(added);
        all.putAll(existing);
        return Map.copyOf(all);
    }

    @Nullable
    AwaitedEnd get(RunId run) {
        return byHash.getOrDefault(Signals.hash(run), Map.of()).get(run);
    }

    /** Whether it was this one that stood for the run's end, and no longer does. */
    boolean remove(RunId run, AwaitedEnd end) {
        var removed = new boolean[1];
        byHash.computeIfPresent(Signals.hash(run), (hash, existing) -> {
            var left = new HashMap<>(existing);
            removed[0] = left.remove(run, end);
            return left.isEmpty() ? null : Map.copyOf(left);
        });
        return removed[0];
    }

    Set<RunId> withHash(int runHash) {
        return byHash.getOrDefault(runHash, Map.of()).keySet();
    }

    List<RunId> runs() {
        var runs = new ArrayList<RunId>();
        byHash.values().forEach(all -> runs.addAll(all.keySet()));
        return runs;
    }

    boolean isEmpty() {
        return byHash.isEmpty();
    }

    /** Nobody waits any more; returns what stood for the ends. */
    Collection<AwaitedEnd> clear() {
        var ends = new ArrayList<AwaitedEnd>();
        for (var hash : byHash.keySet()) {
            var removed = byHash.remove(hash);
            if (removed != null) {
                ends.addAll(removed.values());
            }
        }
        return ends;
    }
}
