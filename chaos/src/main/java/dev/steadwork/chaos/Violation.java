package dev.steadwork.chaos;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A rule that was broken.
 *
 * @param run by which run, empty if by none
 * @param lines of the history that show it
 */
record Violation(Rule rule, String run, String what, List<Fact> lines) {
    private static final int SHOWN = 12;

    @Override
    public String toString() {
        var shown = lines.stream().limit(SHOWN).map(line -> "\n      " + line).collect(Collectors.joining());
        return "%s: run %s: %s%s".formatted(rule, run.isEmpty() ? "-" : run, what, shown);
    }
}
