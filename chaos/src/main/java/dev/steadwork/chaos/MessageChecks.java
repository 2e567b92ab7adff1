package dev.steadwork.chaos;

import java.util.List;
import java.util.stream.Stream;

/** Signals: what was sent in time is taken, and nothing else. */
final class MessageChecks implements Checker.Check {
    @Override
    public Stream<Violation> violations(Evidence evidence) {
        return Stream.concat(missed(evidence), made(evidence));
    }

    private static Stream<Violation> missed(Evidence evidence) {
        return evidence.all(Kind.TIMED_OUT)
                .filter(late -> evidence.of(late.run(), Kind.SENT).anyMatch(sent -> wasInTime(evidence, sent)))
                .map(late -> violation(evidence, late, "waited in vain for a signal that was sent"));
    }

    private static boolean wasInTime(Evidence evidence, Fact sent) {
        var step = evidence.records().stepsOf(sent.run()).get(sent.step());
        var end = step == null ? null : step.wakeMicros();
        return end != null && sent.micros() < end;
    }

    private static Stream<Violation> made(Evidence evidence) {
        return evidence.records().steps().values().stream()
                .flatMap(steps -> steps.values().stream())
                .filter(step -> step.kind().equals("EVENT") && step.status().equals("COMPLETED"))
                .filter(step -> evidence.of(step.run(), Kind.SENDING)
                        .noneMatch(sent -> sent.value().equals(step.value())))
                .map(step -> new Violation(
                        Rule.SIGNALS_ARRIVE,
                        step.run(),
                        "took '%s', which nobody sent".formatted(step.value()),
                        evidence.of(step.run())));
    }

    private static Violation violation(Evidence evidence, Fact fact, String what) {
        return new Violation(Rule.SIGNALS_ARRIVE, fact.run(), what, List.copyOf(evidence.of(fact.run())));
    }
}
