package dev.steadwork.examples.demo;

import java.util.ArrayList;
import java.util.List;

/** One line on the terminal, in pieces of one look each. */
final class Line {
    private final List<Piece> pieces = new ArrayList<>();

    /** How a piece looks. */
    enum Look {
        PLAIN(""),
        BOLD("1"),
        DIM("2"),
        RED("31"),
        GREEN("32"),
        YELLOW("33"),
        BLUE("34"),
        CYAN("36");

        private final String code;

        Look(String code) {
            this.code = code;
        }
    }

    private record Piece(String text, Look look) {}

    /** A text of one look, in as many lines as it needs; a word too long for a line is left as it is. */
    static List<Line> wrapped(String text, Look look, int columns) {
        var lines = new ArrayList<Line>();
        var rest = text;
        while (rest.length() > columns) {
            int indent = rest.length() - rest.stripLeading().length();
            int end = rest.lastIndexOf(' ', columns);
            if (end <= indent) {
                break;
            }
            lines.add(new Line().add(rest.substring(0, end), look));
            rest = " ".repeat(indent) + rest.substring(end + 1);
        }
        lines.add(new Line().add(rest, look));
        return lines;
    }

    Line add(String text) {
        return add(text, Look.PLAIN);
    }

    Line add(String text, Look look) {
        pieces.add(new Piece(text, look));
        return this;
    }

    int length() {
        return pieces.stream().mapToInt(piece -> piece.text().length()).sum();
    }

    /** The line, cut off at this many columns. */
    String render(int columns, boolean colour) {
        var rendered = new StringBuilder();
        int left = columns;
        for (var piece : pieces) {
            var text = piece.text().substring(0, Math.min(left, piece.text().length()));
            left -= text.length();
            boolean plain = !colour || piece.look() == Look.PLAIN || text.isEmpty();
            rendered.append(plain ? text : "\u001b[" + piece.look().code + "m" + text + "\u001b[0m");
        }
        return rendered.toString();
    }
}
