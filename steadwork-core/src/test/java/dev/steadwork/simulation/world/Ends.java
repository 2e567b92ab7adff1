package dev.steadwork.simulation.world;

import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.store.Store;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All runs, and which of them have not ended. */
record Ends(Store database, String namespace) {
    static final RunQuery.Filter ANY =
            new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, false);
    private static final int MOST = 1000;

    List<RunInfo> all() {
        return database.list(namespace, ANY, null, MOST);
    }

    /** Those that have not, with what they look like. */
    List<String> open(History history) {
        return all().stream()
                .filter(run -> !run.status().isTerminal())
                .map(run -> "%s is %s, due %s, epoch %d"
                        .formatted(
                                history.name(run.id()),
                                run.status(),
                                run.times().due(),
                                run.lease().epoch()))
                .toList();
    }
}
