package dev.steadwork.chaos;

import static java.util.stream.Collectors.groupingBy;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Steps: one result, seen by all; effects and children likewise. */
final class StepChecks implements Checker.Check {
    @Override
    public Stream<Violation> violations(Evidence evidence) {
        return Stream.of(otherResults(evidence), fromNowhere(evidence), children(evidence), effects(evidence))
                .flatMap(found -> found);
    }

    private static Stream<Violation> otherResults(Evidence evidence) {
        return evidence.all(Kind.KEPT)
                .filter(fact -> !fact.value().equals(recorded(evidence, fact)))
                .map(fact -> new Violation(
                        Rule.ONE_RESULT_PER_STEP,
                        fact.run(),
                        "step %s gave '%s', recorded is '%s'"
                                .formatted(fact.step(), fact.value(), recorded(evidence, fact)),
                        linesOf(evidence, fact.run(), fact.step())));
    }

    private static String recorded(Evidence evidence, Fact fact) {
        var step = evidence.records().stepsOf(fact.run()).get(fact.step());
        return step == null ? "nothing" : step.value();
    }

    private static Stream<Violation> fromNowhere(Evidence evidence) {
        return evidence.records().steps().values().stream()
                .flatMap(steps -> steps.values().stream())
                .filter(step -> isMadeByItsBody(step.kind()))
                .filter(step -> evidence.of(step.run(), Kind.EXECUTED)
                        .noneMatch(fact ->
                                fact.step().equals(step.name()) && fact.value().equals(step.value())))
                .map(step -> new Violation(
                        Rule.ONE_RESULT_PER_STEP,
                        step.run(),
                        "step %s has '%s' recorded, which no execution returned".formatted(step.name(), step.value()),
                        linesOf(evidence, step.run(), step.name())));
    }

    private static boolean isMadeByItsBody(String kind) {
        return kind.equals("FUNCTION") || kind.equals("TRANSACTION");
    }

    /** A child's result in the parent's step is the one of the child itself. */
    private static Stream<Violation> children(Evidence evidence) {
        var runs = evidence.records().runs();
        return evidence.records().steps().values().stream()
                .flatMap(steps -> steps.values().stream())
                .filter(step -> !step.child().isEmpty())
                .filter(step -> {
                    var child = runs.get(step.child());
                    return child == null || !child.output().equals(step.value());
                })
                .map(step -> new Violation(
                        Rule.CHILD_RESULTS,
                        step.run(),
                        "step %s has '%s', but its child %s has not".formatted(step.name(), step.value(), step.child()),
                        linesOf(evidence, step.run(), step.name())));
    }

    private static Stream<Violation> effects(Evidence evidence) {
        var byRun = evidence.records().effects().stream().collect(groupingBy(Records.Effect::run));
        var twice = byRun.entrySet().stream()
                .filter(run -> !isTheRecorded(evidence, run.getKey(), run.getValue()))
                .map(run -> effectViolation(evidence, run.getKey(), run.getValue()));
        var never = evidence.records().steps().values().stream()
                .flatMap(steps -> steps.values().stream())
                .filter(step -> step.kind().equals("TRANSACTION") && !byRun.containsKey(step.run()))
                .map(step -> effectViolation(evidence, step.run(), List.of()));
        return Stream.concat(twice, never);
    }

    private static boolean isTheRecorded(Evidence evidence, String run, List<Records.Effect> effects) {
        return effects.size() == 1
                && evidence.records().stepsOf(run).values().stream()
                        .anyMatch(step -> step.kind().equals("TRANSACTION")
                                && step.value().equals(effects.get(0).value()));
    }

    private static Violation effectViolation(Evidence evidence, String run, List<Records.Effect> effects) {
        Map<String, Records.Step> steps = evidence.records().stepsOf(run);
        return new Violation(
                Rule.EFFECTS_HAPPEN_ONCE,
                run,
                "has the effects %s and the steps %s"
                        .formatted(effects.stream().map(Records.Effect::value).toList(), steps.values()),
                linesOf(evidence, run, "debit"));
    }

    private static List<Fact> linesOf(Evidence evidence, String run, String step) {
        return evidence.of(run).stream()
                .filter(fact -> fact.step().equals(step) || fact.kind() == Kind.ENTERED || fact.kind() == Kind.LEFT)
                .toList();
    }
}
