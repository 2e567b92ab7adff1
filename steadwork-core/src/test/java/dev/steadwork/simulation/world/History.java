package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.simulation.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What handlers did and saw, and which rules that breaks. */
final class History {
    private final Scheduler scheduler;
    private final Map<RunId, String> names = new LinkedHashMap<>();
    private final Map<Place, String> seen = new LinkedHashMap<>();
    private final Map<Place, Long> acknowledged = new HashMap<>();
    private final Map<Place, Long> reached = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private int executions;

    History(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** A step of a run. */
    record Place(RunId run, String step) {}

    List<String> violations() {
        return violations;
    }

    Map<Place, String> seen() {
        return seen;
    }

    /** Runs are named in the order in which they appear, so that a trace is the same whatever their ids are. */
    String name(RunId run) {
        return names.computeIfAbsent(run, r -> "run" + (names.size() + 1));
    }

    void violated(String rule) {
        violations.add(rule);
        if (scheduler.isTraced()) {
            scheduler.trace("VIOLATION " + rule);
        }
    }

    /** A step is executed; its result is like no other, so that it can be told which execution a reader saw. */
    String executed(RunId run, String step, long epoch) {
        var place = new Place(run, step);
        var before = acknowledged.get(place);
        if (before != null && epoch >= before) {
            violated("%s: step %s was executed under epoch %d, after its checkpoint was acknowledged under epoch %d"
                    .formatted(name(run), step, epoch, before));
        }
        executions++;
        if (scheduler.isTraced()) {
            scheduler.trace("executes %s of %s, execution %d".formatted(step, name(run), executions));
        }
        return step + "@" + executions;
    }

    /** The handler got this as the step's result. */
    String saw(RunId run, String step, String value, long epoch) {
        var place = new Place(run, step);
        acknowledged.putIfAbsent(place, epoch);
        var before = seen.putIfAbsent(place, value);
        if (before != null && !before.equals(value)) {
            violated("%s: step %s was %s for one reader and %s for another".formatted(name(run), step, before, value));
        }
        return value;
    }

    /** A handler asks to wait this long; the first one that does counts. */
    void reaches(RunId run, String step) {
        reached.putIfAbsent(new Place(run, step), scheduler.nanos());
    }

    void waited(RunId run, String step, Duration asked) {
        long waited = scheduler.nanos() - reached.get(new Place(run, step));
        if (waited < asked.toNanos()) {
            violated("%s: %s took %s instead of %s".formatted(name(run), step, Duration.ofNanos(waited), asked));
        }
    }
}
