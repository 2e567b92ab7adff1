package dev.steadwork.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Leases: what an older claim wrote after a newer one does not count, and a newer claim knows all that was kept. No clock is needed
 * for either: a claim brings along all steps that were kept before it.
 */
final class EpochChecks implements Checker.Check {
    @Override
    public Stream<Violation> violations(Evidence evidence) {
        return evidence.byRun().entrySet().stream().flatMap(run -> of(evidence, run.getKey(), run.getValue()).stream());
    }

    private static List<Violation> of(Evidence evidence, String run, List<Fact> facts) {
        var found = new ArrayList<Violation>();
        staleEnd(evidence, run, facts, found);
        staleSteps(evidence, run, facts, found);
        repeated(run, facts, found);
        return found;
    }

    /** A run that ended is not claimed any more: its output is that of its last claim. */
    private static void staleEnd(Evidence evidence, String run, List<Fact> facts, List<Violation> found) {
        var record = evidence.records().runs().get(run);
        if (record == null || record.output().isEmpty()) {
            return;
        }
        long last = facts.stream()
                .filter(fact -> fact.kind() == Kind.ENTERED)
                .mapToLong(Fact::epoch)
                .max()
                .orElse(0);
        boolean byLast = facts.stream()
                .anyMatch(fact -> fact.kind() == Kind.RETURNED
                        && fact.epoch() == last
                        && fact.value().equals(record.output()));
        if (!byLast) {
            found.add(new Violation(
                    Rule.NO_STALE_WRITE,
                    run,
                    "the output '%s' is not what the last claim, epoch %d, returned".formatted(record.output(), last),
                    facts));
        }
    }

    /** Who executed a step had not got it with its claim: a result of an older claim was written after that. */
    private static void staleSteps(Evidence evidence, String run, List<Fact> facts, List<Violation> found) {
        var steps = evidence.records().stepsOf(run);
        for (var fact : facts) {
            var step = steps.get(fact.step());
            if (fact.kind() == Kind.EXECUTED && step != null && epochOf(step.value()) < fact.epoch()) {
                found.add(new Violation(
                        Rule.NO_STALE_WRITE,
                        run,
                        "step %s has '%s' recorded, and was executed under epoch %d, which had not got it with its claim"
                                .formatted(fact.step(), step.value(), fact.epoch()),
                        facts));
            }
        }
    }

    private static long epochOf(String value) {
        return Long.parseLong(value.substring(value.lastIndexOf('@') + 1));
    }

    /** Who lost its lease may execute what a newer claim has kept, until it is told; nobody else may. */
    private static void repeated(String run, List<Fact> facts, List<Violation> found) {
        Map<String, Fact> kept = new HashMap<>();
        for (var fact : facts) {
            if (fact.kind() == Kind.KEPT) {
                kept.merge(fact.step(), fact, (one, other) -> one.epoch() <= other.epoch() ? one : other);
            }
        }
        for (var fact : facts) {
            var acknowledged = fact.kind() == Kind.EXECUTED ? kept.get(fact.step()) : null;
            if (acknowledged != null && isAfter(fact, acknowledged)) {
                found.add(new Violation(
                        Rule.NOT_EXECUTED_AGAIN,
                        run,
                        "step %s was executed again under epoch %d".formatted(fact.step(), fact.epoch()),
                        facts));
            }
        }
    }

    private static boolean isAfter(Fact executed, Fact acknowledged) {
        return executed.epoch() > acknowledged.epoch()
                || (executed.epoch() == acknowledged.epoch() && executed.nanos() > acknowledged.nanos());
    }
}
