package dev.steadwork.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the processes saw and what the database has.
 *
 * @param byRun the facts that belong to a run
 */
record Evidence(List<Fact> facts, Map<String, List<Fact>> byRun, Records records) {
    static Evidence of(List<Fact> facts, Records records) {
        var byRun = new HashMap<String, List<Fact>>();
        for (var fact : facts) {
            if (!fact.run().isEmpty()) {
                byRun.computeIfAbsent(fact.run(), run -> new ArrayList<>(16)).add(fact);
            }
        }
        return new Evidence(facts, byRun, records);
    }

    Stream<Fact> all(Kind kind) {
        return facts.stream().filter(fact -> fact.kind() == kind);
    }

    List<Fact> of(String run) {
        return byRun.getOrDefault(run, List.of());
    }

    Stream<Fact> of(String run, Kind kind) {
        return of(run).stream().filter(fact -> fact.kind() == kind);
    }
}
