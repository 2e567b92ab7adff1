package dev.steadwork.chaos;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the checker found, with counts of what there was. */
record Verdict(List<Violation> violations, Counts counts, Timings timings, Duration lease) {
    private static final int SHOWN = 20;

    /**
     * What there was.
     *
     * @param accepted runs that a client knows of
     * @param unknown triggers without an answer
     * @param completed runs in the database that have completed, with children and those of the schedule
     * @param executed bodies of steps
     * @param repeated bodies that were executed again before their checkpoint was acknowledged
     */
    record Counts(long accepted, long unknown, long completed, long executed, long repeated, Map<String, Long> faults) {
        static Counts of(Evidence evidence) {
            long executed = evidence.all(Kind.EXECUTED).count();
            return new Counts(
                    evidence.all(Kind.ACCEPTED).map(Fact::run).distinct().count(),
                    evidence.all(Kind.UNKNOWN).count(),
                    evidence.records().runs().values().stream()
                            .filter(run -> run.status().equals("COMPLETED"))
                            .count(),
                    executed,
                    executed
                            - evidence.all(Kind.EXECUTED)
                                    .map(fact -> fact.run() + fact.step())
                                    .distinct()
                                    .count(),
                    evidence.all(Kind.FAULT).collect(groupingBy(Fact::step, TreeMap::new, counting())));
        }
    }

    static Verdict of(Evidence evidence, Duration lease) {
        return new Verdict(Checker.check(evidence), Counts.of(evidence), Timings.of(evidence.facts(), lease), lease);
    }

    boolean isGood() {
        return violations.isEmpty();
    }

    long broken(Rule rule) {
        return violations.stream().filter(violation -> violation.rule() == rule).count();
    }

    @Override
    public String toString() {
        var text = new StringBuilder();
        text.append("accepted runs      %,d (and %,d triggers without an answer)%n"
                .formatted(counts.accepted(), counts.unknown()));
        text.append("completed runs     %,d, with children and those of the schedule%n".formatted(counts.completed()));
        text.append("executed steps     %,d, of which %,d were repeated before their checkpoint%n"
                .formatted(counts.executed(), counts.repeated()));
        text.append("faults             %s%n".formatted(counts.faults()));
        text.append("resumed after kill %s; the limit is lease + 1 s = %s%n"
                .formatted(shown(timings.resumed()), seconds(lease.plusSeconds(1))));
        text.append("after a restart    %s; the limit is 5 s%n".formatted(shown(timings.recovered())));
        for (var rule : Rule.values()) {
            text.append("%-5s %s%n".formatted(broken(rule) == 0 ? "ok" : broken(rule) + " x", rule.says()));
        }
        violations.stream()
                .limit(SHOWN)
                .forEach(violation -> text.append("  ").append(violation).append("\n"));
        text.append(
                isGood()
                        ? "Nothing was lost, nothing is double, nothing is stuck."
                        : violations.size() + " violations.");
        return text.toString();
    }

    private static String shown(List<Duration> times) {
        return times.isEmpty()
                ? "not measured"
                : "%d times, median %s, longest %s"
                        .formatted(times.size(), seconds(Timings.median(times)), seconds(Timings.longest(times)));
    }

    private static String seconds(Duration time) {
        return "%.2f s".formatted(time.toMillis() / 1000.0);
    }
}
