package dev.steadwork.examples.demo;

import dev.steadwork.RunId;
import dev.steadwork.examples.demo.Board.Cell;
import dev.steadwork.examples.demo.Board.Phase;
import dev.steadwork.examples.demo.Board.Row;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Appends a line for whatever has changed since the last look: for files, pipes and simple terminals. */
final class PlainView implements View {
    private final PrintStream out;
    private final Map<RunId, Map<String, Phase>> shown = new HashMap<>();

    PlainView(PrintStream out) {
        this.out = out;
    }

    @Override
    public void show(Moment moment) {
        moment.rows().forEach(row -> show(moment.elapsed(), row));
    }

    private void show(Duration elapsed, Row row) {
        var before = shown.computeIfAbsent(row.run(), run -> new HashMap<>());
        for (var cell : row.cells()) {
            var known = before.put(cell.step(), cell.phase());
            if (known != cell.phase() && cell.phase() != Phase.WAITING) {
                out.printf("%8s  %-9s %-11s %s%n", View.seconds(elapsed), row.order(), cell.step(), words(cell));
            }
        }
    }

    private static String words(Cell cell) {
        return switch (cell.phase()) {
            case WAITING -> "waits";
            case RUNNING -> cell.attempt() > 1 ? "begins, attempt " + cell.attempt() : "begins";
            case RETRYING -> "failed, will be tried again";
            case SLEEPING -> "sleeps";
            case INTERRUPTED -> "was interrupted";
            case KEPT -> "done";
        };
    }

    @Override
    public void say(Line.Look look, String text) {
        out.println(text);
    }

    @Override
    public void close() {
        out.flush();
    }
}
