package dev.steadwork.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How long it took until things went on.
 *
 * @param resumed from a kill to the next claim of each run that the killed worker had, where nothing else went wrong meanwhile
 * @param recovered from when Postgres took connections again to when every worker had kept a step, where nothing else went wrong
 */
record Timings(List<Duration> resumed, List<Duration> recovered) {

    static Timings of(List<Fact> facts, Duration lease) {
        return new Timings(resumed(facts, lease.plusSeconds(1)), recovered(facts));
    }

    private static List<Duration> resumed(List<Fact> facts, Duration limit) {
        var times = new ArrayList<Duration>();
        for (int i = 0; i < facts.size(); i++) {
            var kill = facts.get(i);
            if (kill.kind() == Kind.KILLED && kill.step().startsWith("worker") && isAlone(facts, i, limit)) {
                resumed(facts, i, times);
            }
        }
        return times;
    }

    /** Whether no other fault was on when this one came, or came before the limit was over. */
    private static boolean isAlone(List<Fact> facts, int index, Duration limit) {
        long until = facts.get(index).nanos() + limit.toNanos();
        for (int i = index + 1; i < facts.size() && facts.get(i).nanos() <= until; i++) {
            if (facts.get(i).kind() == Kind.FAULT) {
                return false;
            }
        }
        return true;
    }

    private static void resumed(List<Fact> facts, int index, List<Duration> times) {
        var kill = facts.get(index);
        Set<String> held = new HashSet<>();
        for (var fact : facts.subList(0, index)) {
            if (fact.process().equals(kill.step()) && fact.kind() == Kind.ENTERED) {
                held.add(fact.run());
            } else if (fact.process().equals(kill.step()) && fact.kind() == Kind.LEFT) {
                held.remove(fact.run());
            }
        }
        for (int i = index + 1; i < facts.size() && !held.isEmpty(); i++) {
            var fact = facts.get(i);
            boolean byAnother = !fact.process().equals(kill.step());
            if (fact.kind() == Kind.ENTERED && byAnother && held.remove(fact.run())) {
                times.add(Duration.ofNanos(fact.nanos() - kill.nanos()));
            }
        }
    }

    private static List<Duration> recovered(List<Fact> facts) {
        var times = new ArrayList<Duration>();
        for (int i = 0; i < facts.size(); i++) {
            if (facts.get(i).kind() == Kind.ACCEPTING) {
                recovered(facts, i, times);
            }
        }
        return times;
    }

    private static void recovered(List<Fact> facts, int index, List<Duration> times) {
        long accepting = facts.get(index).nanos();
        Map<String, Boolean> workers = new HashMap<>();
        for (var fact : facts.subList(0, index)) {
            if (fact.kind() == Kind.ENTERED) {
                workers.put(fact.process(), true);
            } else if (fact.kind() == Kind.KILLED) {
                workers.remove(fact.step());
            }
        }
        for (var fact : facts.subList(index + 1, facts.size())) {
            if (fact.kind() == Kind.FAULT || workers.isEmpty()) {
                return;
            }
            if (fact.kind() == Kind.KEPT && workers.remove(fact.process()) != null) {
                times.add(Duration.ofNanos(fact.nanos() - accepting));
            }
        }
    }

    static Duration median(List<Duration> times) {
        return times.isEmpty()
                ? Duration.ZERO
                : times.stream().sorted().toList().get(times.size() / 2);
    }

    static Duration longest(List<Duration> times) {
        return times.stream().max(Duration::compareTo).orElse(Duration.ZERO);
    }
}
