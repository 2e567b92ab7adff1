package dev.steadwork.chaos;

import static java.util.stream.Collectors.groupingBy;

import java.util.List;
import java.util.stream.Stream;

/** Runs: accepted ones end, keys are unique, clients are told the truth. */
final class RunChecks implements Checker.Check {
    @Override
    public Stream<Violation> violations(Evidence evidence) {
        return Stream.of(lost(evidence), unfinished(evidence), untrue(evidence), keys(evidence), keysOfRuns(evidence))
                .flatMap(found -> found);
    }

    private static Stream<Violation> lost(Evidence evidence) {
        return evidence.all(Kind.ACCEPTED)
                .filter(fact -> !evidence.records().runs().containsKey(fact.run()))
                .map(fact -> new Violation(
                        Rule.ACCEPTED_RUNS_END, fact.run(), "was accepted and is not in the database", List.of(fact)));
    }

    private static Stream<Violation> unfinished(Evidence evidence) {
        return evidence.records().runs().values().stream()
                .filter(run -> !run.status().equals("COMPLETED"))
                .map(run -> new Violation(
                        Rule.ACCEPTED_RUNS_END,
                        run.id(),
                        (run.hasEnded() ? "ended as %s %s" : "has not ended: it is %s %s")
                                .formatted(run.status(), run.error()),
                        evidence.of(run.id())));
    }

    private static Stream<Violation> untrue(Evidence evidence) {
        return Stream.concat(evidence.all(Kind.SEEN), evidence.all(Kind.ACCEPTED))
                .filter(fact -> evidence.records().runs().containsKey(fact.run()))
                .filter(fact -> !isTrue(fact, outputOf(evidence, fact.run())))
                .map(fact -> new Violation(
                        Rule.ANSWERS_ARE_TRUE,
                        fact.run(),
                        "a client saw '%s', recorded is '%s'".formatted(fact.value(), outputOf(evidence, fact.run())),
                        List.of(fact)));
    }

    /** A result is what is recorded; a run that was accepted as new is the one that was asked for. */
    private static boolean isTrue(Fact fact, String output) {
        boolean existed = fact.epoch() == 1;
        return fact.kind() == Kind.SEEN
                ? fact.value().equals(output)
                : existed || output.isEmpty() || output.startsWith(fact.value() + " by ");
    }

    private static String outputOf(Evidence evidence, String run) {
        var record = evidence.records().runs().get(run);
        return record == null ? "" : record.output();
    }

    private static Stream<Violation> keys(Evidence evidence) {
        var byKey = evidence.all(Kind.ACCEPTED)
                .filter(fact -> !fact.step().isEmpty())
                .collect(groupingBy(Fact::step));
        return byKey.entrySet().stream()
                .filter(key -> isAmbiguous(key.getValue()))
                .map(key -> new Violation(
                        Rule.ONE_RUN_PER_KEY,
                        key.getValue().get(0).run(),
                        "key %s is several runs, or was new more than once".formatted(key.getKey()),
                        key.getValue()));
    }

    private static boolean isAmbiguous(List<Fact> accepted) {
        return accepted.stream().map(Fact::run).distinct().count() > 1
                || accepted.stream().filter(fact -> fact.epoch() == 0).count() > 1;
    }

    private static Stream<Violation> keysOfRuns(Evidence evidence) {
        var byKey = evidence.records().runs().values().stream()
                .filter(run -> !run.key().isEmpty())
                .collect(groupingBy(Records.Run::key));
        return byKey.values().stream()
                .filter(runs -> runs.size() > 1)
                .map(runs -> new Violation(
                        Rule.ONE_RUN_PER_KEY,
                        runs.get(0).id(),
                        "key %s is %d runs in the database"
                                .formatted(runs.get(0).key(), runs.size()),
                        List.of()));
    }
}
