package dev.steadwork.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A history and a database, made up. Time passes by a millisecond with every fact. */
final class Story {
    private final List<Fact> facts = new ArrayList<>();
    private final Map<String, Records.Run> runs = new HashMap<>();
    private final Map<String, Map<String, Records.Step>> steps = new HashMap<>();
    private final List<Records.Firing> firings = new ArrayList<>();
    private final List<Records.Effect> effects = new ArrayList<>();
    private long micros = 1_000_000_000;

    Story add(String process, Kind kind, String run, String step, long epoch, String value) {
        facts.add(new Fact(micros, micros * 1_000, process, kind, run, step, epoch, value));
        return pass(1);
    }

    Story pass(long millis) {
        micros += millis * 1_000;
        return this;
    }

    long now() {
        return micros;
    }

    Story run(String id, String type, String status, String key, String output) {
        runs.put(id, new Records.Run(id, type, status, 1, key, output, ""));
        return this;
    }

    Story step(String run, String name, String kind, String value) {
        return step(run, name, kind, value, null, "");
    }

    Story step(String run, String name, String kind, String value, Long wakeMicros, String child) {
        steps.computeIfAbsent(run, id -> new HashMap<>())
                .put(name, new Records.Step(run, name, kind, "COMPLETED", value, wakeMicros, child));
        return this;
    }

    Story firing(long slot, String outcome, String run) {
        firings.add(new Records.Firing(slot * 1_000_000, outcome, run));
        return this;
    }

    Story effect(String run, String value) {
        effects.add(new Records.Effect(run, value));
        return this;
    }

    /** A worker takes the run, executes its only step and returns. */
    Story worked(String process, String run, long epoch, String value, String output) {
        return add(process, Kind.ENTERED, run, "steps", epoch, "")
                .add(process, Kind.EXECUTED, run, "a", epoch, value)
                .add(process, Kind.KEPT, run, "a", epoch, value)
                .add(process, Kind.RETURNED, run, "", epoch, output)
                .add(process, Kind.LEFT, run, "", epoch, "");
    }

    Evidence evidence() {
        return Evidence.of(facts, new Records(runs, steps, firings, effects));
    }

    List<Rule> broken() {
        return Checker.check(evidence()).stream()
                .map(Violation::rule)
                .distinct()
                .toList();
    }
}
