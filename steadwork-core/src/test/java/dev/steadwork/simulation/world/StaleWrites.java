package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Looks whether a write under an epoch that is known to be over changes anything. */
final class StaleWrites {
    private final Store database;
    private final History history;
    private final Map<RunId, Long> epochs = new HashMap<>();

    StaleWrites(Store database, History history) {
        this.database = database;
        this.history = history;
    }

    void heard(Claimed claimed) {
        claimed.runs().forEach(run -> epochs.merge(run.id(), run.epoch(), Math::max));
    }

    /** What the database has of the runs that only stale writes of the batch concern. */
    Map<RunId, String> before(List<?> batch) {
        var stale = new HashMap<RunId, String>();
        for (var write : batch) {
            if (write instanceof Write.Fenced fenced && fenced.epoch() < epochs.getOrDefault(fenced.run(), 0L)) {
                stale.put(fenced.run(), kept(fenced.run()));
            }
        }
        for (var write : batch) {
            if (write instanceof Write.Fenced fenced && fenced.epoch() >= epochs.getOrDefault(fenced.run(), 0L)) {
                stale.remove(fenced.run());
                removeRelatives(fenced, stale);
            }
        }
        return stale;
    }

    /** An end also changes the parent that waits for it, and the children that end with it. */
    private static void removeRelatives(Write.Fenced write, Map<RunId, String> stale) {
        if (write instanceof Write.Finish finish) {
            var parent = finish.parent();
            if (parent != null) {
                stale.remove(parent.run());
            }
            if (finish.endsChildren()) {
                stale.clear();
            }
        }
    }

    void after(Map<RunId, String> before) {
        before.forEach((run, kept) -> {
            if (!kept(run).equals(kept)) {
                history.violated("%s: a write under a stale epoch took effect".formatted(history.name(run)));
            }
        });
    }

    private String kept(RunId run) {
        return database.find(run) + " " + database.steps(run);
    }
}
