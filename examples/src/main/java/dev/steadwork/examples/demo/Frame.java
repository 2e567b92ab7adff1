package dev.steadwork.examples.demo;

import dev.steadwork.examples.demo.Board.Cell;
import dev.steadwork.examples.demo.Board.Phase;
import dev.steadwork.examples.demo.Board.Row;
import dev.steadwork.examples.demo.Line.Look;
import dev.steadwork.examples.demo.View.Moment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Draws a moment: a progress bar, a line per order with its steps, a legend; as many as the terminal has room for. */
final class Frame {
    private static final int WIDE = 78;
    /** The blank line, header, legend and "and more" of the frame, and room for what was said above it. */
    private static final int LINES_AROUND = 10;

    private final Terminal.Size size;
    private final boolean unicode;

    Frame(Terminal.Size size, boolean unicode) {
        this.size = size;
        this.unicode = unicode;
    }

    List<Line> draw(Moment moment) {
        var lines = new ArrayList<Line>();
        lines.add(new Line());
        lines.add(header(moment));
        var rows = fitting(moment.rows());
        rows.forEach(row -> lines.add(line(row)));
        if (rows.size() < moment.rows().size()) {
            lines.add(new Line().add("  and %d more".formatted(moment.rows().size() - rows.size()), Look.DIM));
        }
        lines.add(legend());
        return lines;
    }

    private Line header(Moment moment) {
        int bar = Math.max(4, Math.min(24, size.columns() - 60));
        int full = moment.steps() == 0 ? 0 : (int) (bar * moment.kept() / moment.steps());
        return new Line()
                .add(" ")
                .add((unicode ? "█" : "#").repeat(full), Look.GREEN)
                .add((unicode ? "░" : "-").repeat(bar - full), Look.DIM)
                .add(" %d/%d orders".formatted(moment.ended(), moment.rows().size()), Look.BOLD)
                .add("  %s".formatted(View.seconds(moment.elapsed())))
                .add("  %s".formatted(moment.worker()), Look.CYAN)
                .add("  %d/%d steps".formatted(moment.kept(), moment.steps()), Look.DIM);
    }

    /** If there is no room for all orders, those that something happens to come first. */
    private List<Row> fitting(List<Row> rows) {
        int room = Math.max(1, size.rows() - LINES_AROUND);
        if (rows.size() <= room) {
            return rows;
        }
        return rows.stream()
                .sorted(Comparator.comparingInt(Frame::dullness))
                .limit(room)
                .sorted(Comparator.comparing(Row::run))
                .toList();
    }

    private static int dullness(Row row) {
        if (row.has(Phase.INTERRUPTED)) {
            return 0;
        }
        if (row.has(Phase.RUNNING) || row.has(Phase.RETRYING)) {
            return 1;
        }
        if (row.has(Phase.SLEEPING)) {
            return 2;
        }
        return row.status().isTerminal() ? 4 : 3;
    }

    private Line line(Row row) {
        var line = new Line().add(" %-10s".formatted(row.order()), row.status().isTerminal() ? Look.GREEN : Look.PLAIN);
        boolean wide = size.columns() >= WIDE;
        row.cells().forEach(cell -> line.add(wide ? wide(cell) : mark(cell.phase()) + " ", look(cell.phase())));
        return line;
    }

    private String wide(Cell cell) {
        var text = mark(cell.phase()) + " " + cell.step() + note(cell);
        int width = cell.step().length() + (cell.step().equals("cooling-off") ? 10 : 7);
        return "%%-%ds".formatted(width).formatted(text);
    }

    private static String note(Cell cell) {
        var left = cell.left();
        if (left != null) {
            return " " + View.seconds(left);
        }
        return cell.attempt() > 1 ? " x" + cell.attempt() : "";
    }

    private Line legend() {
        var line = new Line().add(" ");
        for (var phase : List.of(Phase.KEPT, Phase.RUNNING, Phase.RETRYING, Phase.SLEEPING, Phase.INTERRUPTED)) {
            line.add(mark(phase), look(phase)).add(" " + word(phase) + " ", Look.DIM);
        }
        return line;
    }

    private String mark(Phase phase) {
        return switch (phase) {
            case WAITING -> unicode ? "·" : ".";
            case RUNNING -> unicode ? "▶" : ">";
            case RETRYING -> unicode ? "↻" : "r";
            case SLEEPING -> "z";
            case INTERRUPTED -> unicode ? "✗" : "x";
            case KEPT -> unicode ? "✓" : "+";
        };
    }

    private static String word(Phase phase) {
        return switch (phase) {
            case WAITING -> "waiting";
            case RUNNING -> "running";
            case RETRYING -> "retrying";
            case SLEEPING -> "sleeping";
            case INTERRUPTED -> "interrupted";
            case KEPT -> "kept";
        };
    }

    private static Look look(Phase phase) {
        return switch (phase) {
            case WAITING -> Look.DIM;
            case RUNNING -> Look.CYAN;
            case RETRYING -> Look.YELLOW;
            case SLEEPING -> Look.BLUE;
            case INTERRUPTED -> Look.RED;
            case KEPT -> Look.GREEN;
        };
    }
}
