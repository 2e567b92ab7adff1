package dev.steadwork.chaos;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Sleeps and schedules. */
final class TimeChecks implements Checker.Check {
    private static final long SLOT_MICROS = 1_000_000;

    @Override
    public Stream<Violation> violations(Evidence evidence) {
        return Stream.of(sleeps(evidence), slots(evidence), runsOfSlots(evidence))
                .flatMap(found -> found);
    }

    private static Stream<Violation> sleeps(Evidence evidence) {
        return evidence.all(Kind.WOKEN)
                .filter(woken -> isEarly(evidence, woken))
                .map(woken -> new Violation(
                        Rule.SLEEPS_LAST,
                        woken.run(),
                        "sleep %s was over too early; recorded is %s"
                                .formatted(
                                        woken.step(),
                                        evidence.records().stepsOf(woken.run()).get(woken.step())),
                        evidence.of(woken.run())));
    }

    /** Measured from when it was first asked for, and against the time that is recorded. */
    private static boolean isEarly(Evidence evidence, Fact woken) {
        var asked = evidence.of(woken.run(), Kind.ASLEEP)
                .filter(fact -> fact.step().equals(woken.step()))
                .findFirst();
        if (asked.isEmpty()) {
            return true;
        }
        long micros = Long.parseLong(asked.get().value()) * 1_000;
        var step = evidence.records().stepsOf(woken.run()).get(woken.step());
        var recorded = step == null ? null : step.wakeMicros();
        return (woken.nanos() - asked.get().nanos()) / 1_000 < micros
                || (recorded != null
                        && (woken.micros() < recorded || recorded < asked.get().micros() + micros));
    }

    /** One slot a second, none left out. */
    private static Stream<Violation> slots(Evidence evidence) {
        var found = new ArrayList<Violation>();
        long expected = -1;
        for (var firing : evidence.records().firings()) {
            if (!firing.outcome().equals("FIRED")) {
                found.add(slotViolation("slot %s was not fired".formatted(firing)));
            }
            if (expected >= 0 && firing.slotMicros() != expected) {
                found.add(slotViolation("slot %d is missing before %s".formatted(expected, firing)));
            }
            expected = firing.slotMicros() + SLOT_MICROS;
        }
        return found.stream();
    }

    private static Stream<Violation> runsOfSlots(Evidence evidence) {
        var byRun = evidence.records().firings().stream().collect(groupingBy(Records.Firing::run, counting()));
        return evidence.records().runs().values().stream()
                .filter(run -> run.type().equals(Workflows.TICK.name()))
                .filter(run -> byRun.getOrDefault(run.id(), 0L) != 1)
                .map(run -> new Violation(
                        Rule.SLOTS_FIRE_ONCE,
                        run.id(),
                        "was fired by %d slots".formatted(byRun.getOrDefault(run.id(), 0L)),
                        List.of()));
    }

    private static Violation slotViolation(String what) {
        return new Violation(Rule.SLOTS_FIRE_ONCE, "", what, List.of());
    }
}
