package dev.steadwork.chaos;

import java.util.List;
import java.util.stream.Stream;

/** Compares what the processes saw with what the database has, rule by rule. */
final class Checker {
    private static final List<Check> CHECKS =
            List.of(new RunChecks(), new StepChecks(), new EpochChecks(), new TimeChecks(), new MessageChecks());

    private Checker() {}

    /** Rules of one kind. */
    interface Check {
        Stream<Violation> violations(Evidence evidence);
    }

    static List<Violation> check(Evidence evidence) {
        return CHECKS.stream().flatMap(check -> check.violations(evidence)).toList();
    }
}
