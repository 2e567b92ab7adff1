package dev.steadwork.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Visits every state that can be reached, the nearest first, and looks in each whether it breaks a rule; then whether the
 * goal can be reached from each without further faults.
 *
 * @param <S> a state; equal states are visited once
 */
final class Explorer<S> {
    private final Function<S, List<Step<S>>> steps;
    private final Function<S, Optional<String>> brokenRule;
    private final Predicate<S> isGoal;

    private final Map<S, Integer> numbers = new HashMap<>();
    private final List<S> states = new ArrayList<>();
    private final List<Origin> origins = new ArrayList<>();
    private final List<int[]> calmSteps = new ArrayList<>();

    Explorer(Function<S, List<Step<S>>> steps, Function<S, Optional<String>> brokenRule, Predicate<S> isGoal) {
        this.steps = steps;
        this.brokenRule = brokenRule;
        this.isGoal = isGoal;
    }

    /** What can happen next; a fault is something that need not. */
    record Step<S>(String action, boolean isFault, S to) {}

    /** What was found: the shortest way to a broken rule, if one can be broken. */
    record Findings(int states, Optional<String> brokenRule, List<String> way) {
        @Override
        public String toString() {
            return brokenRule
                    .map(rule -> rule + " after:\n  " + String.join("\n  ", way))
                    .orElse("no rule is broken in %d states".formatted(states));
        }
    }

    private record Origin(int from, String action) {}

    Findings explore(S start) {
        visit(start, new Origin(-1, "start"));
        for (int current = 0; current < states.size(); current++) {
            var state = states.get(current);
            var broken = brokenRule.apply(state);
            if (broken.isPresent()) {
                return found(broken.get(), current);
            }
            for (var step : steps.apply(state)) {
                int next = visit(step.to(), new Origin(current, step.action()));
                if (!step.isFault()) {
                    calmSteps.add(new int[] {current, next});
                }
            }
        }
        int stuck = stuck();
        return stuck < 0 ? new Findings(states.size(), Optional.empty(), List.of()) : found("stuck for ever", stuck);
    }

    private int visit(S state, Origin origin) {
        var known = numbers.putIfAbsent(state, states.size());
        if (known != null) {
            return known;
        }
        states.add(state);
        origins.add(origin);
        return states.size() - 1;
    }

    private Findings found(String rule, int at) {
        var way = new ArrayList<String>();
        for (int i = at; i > 0; i = origins.get(i).from()) {
            way.add(origins.get(i).action());
        }
        Collections.reverse(way);
        return new Findings(states.size(), Optional.of(rule), way);
    }

    /** The nearest state from which no way without faults leads to the goal, or -1. */
    private int stuck() {
        var before = new HashMap<Integer, List<Integer>>();
        calmSteps.forEach(
                step -> before.computeIfAbsent(step[1], s -> new ArrayList<>()).add(step[0]));
        var reaching = new BitSet();
        var open = new ArrayDeque<Integer>();
        for (int i = 0; i < states.size(); i++) {
            if (isGoal.test(states.get(i))) {
                reaching.set(i);
                open.add(i);
            }
        }
        while (!open.isEmpty()) {
            for (int from : before.getOrDefault(open.poll(), List.of())) {
                if (!reaching.get(from)) {
                    reaching.set(from);
                    open.add(from);
                }
            }
        }
        int first = reaching.nextClearBit(0);
        return first < states.size() ? first : -1;
    }
}
