package dev.steadwork.examples.demo;

import dev.steadwork.examples.demo.Line.Look;
import java.util.ArrayList;
import java.util.List;

/** What the demo says at its end: what was counted, and what it means. */
final class Summary {
    private static final int MAX_COLUMNS = 90;

    private final Tally tally;
    private final Story.Outcome outcome;
    private final DemoFiles files;

    Summary(Story.Outcome outcome, DemoFiles files) {
        this.tally = outcome.tally();
        this.outcome = outcome;
        this.files = files;
    }

    void print(Terminal terminal) {
        for (var line : lines(Math.min(MAX_COLUMNS, terminal.size().columns() - 1))) {
            terminal.out().println(line.render(Integer.MAX_VALUE, terminal.hasColour()));
        }
    }

    private List<Line> lines(int columns) {
        var lines = new ArrayList<Line>();
        lines.add(new Line());
        lines.add(new Line().add("Counted in the database and in the workers' own log", Look.BOLD));
        lines.add(count("orders accepted", tally.accepted()));
        lines.add(count("orders completed", tally.completed()));
        lines.add(countOfBad("orders lost", tally.lost()));
        lines.add(count("step executions", tally.executed()));
        lines.add(count("- kept by a checkpoint", tally.kept()));
        lines.add(count("- failed, tried again", tally.failed()));
        lines.add(count("- interrupted by a crash", tally.interrupted()));
        lines.add(countOfBad("executed again after checkpoint", tally.repeated()));
        var takeOver = outcome.takeOver();
        if (takeOver != null) {
            lines.add(row("from kill to take-over", View.seconds(takeOver), Look.PLAIN));
        }
        lines.add(new Line());
        explanations().forEach(text -> lines.addAll(Line.wrapped(text, Look.DIM, columns)));
        lines.addAll(Line.wrapped(verdict(), tally.isClean() ? Look.GREEN : Look.RED, columns));
        return lines;
    }

    private List<String> explanations() {
        var texts = new ArrayList<String>();
        if (tally.interrupted() > 0) {
            texts.add(
                    "Interrupted steps ran again: the crash came before their checkpoint. Their idempotency key is the"
                            + " same both times, so the world outside can tell.");
        }
        if (outcome.takeOver() != null) {
            texts.add("The take-over waits for the dead worker's lease to end: %s here, 30 s by default."
                    .formatted(View.seconds(Orders.LEASE)));
        }
        if (files.isKept()) {
            texts.add("Everything is in %s".formatted(files.database()));
        }
        return texts;
    }

    private String verdict() {
        return tally.isClean()
                ? "Nothing was lost, and no finished step was repeated."
                : "SOMETHING WENT WRONG: orders were lost, or finished steps were repeated.";
    }

    private static Line count(String label, long count) {
        return row(label, Long.toString(count), Look.PLAIN);
    }

    private static Line countOfBad(String label, long count) {
        return row(label, Long.toString(count), count == 0 ? Look.GREEN : Look.RED);
    }

    private static Line row(String label, String value, Look look) {
        return new Line().add("  %-32s".formatted(label)).add("%8s".formatted(value), look);
    }
}
