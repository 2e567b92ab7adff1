package dev.steadwork.examples.demo;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Redraws the orders in place; what is said stays above them. */
final class LiveView implements View {
    private static final String HIDE_CURSOR = "\u001b[?25l";
    private static final String SHOW_CURSOR = "\u001b[?25h";
    private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";
    private static final String ERASE_BELOW = "\u001b[J";
    private static final String ERASE_REST_OF_LINE = "\u001b[K";

    private final Terminal terminal;
    private final List<Said> said = new ArrayList<>();
    private Terminal.Size size;
    private int drawnLines;
    private @Nullable Moment last;

    private record Said(Line.Look look, String text) {}

    LiveView(Terminal terminal) {
        this.terminal = terminal;
        this.size = terminal.size();
    }

    @Override
    public void show(Moment moment) {
        last = moment;
        if (size.equals(terminal.size())) {
            print(toTop() + frame(moment));
        } else {
            repaint();
        }
    }

    @Override
    public void say(Line.Look look, String text) {
        var next = new Said(look, text);
        said.add(next);
        print(toTop() + ERASE_BELOW + lines(next) + (last == null ? "" : frame(last)));
    }

    /** In a window of another size the old lines may be anywhere. */
    private void repaint() {
        size = terminal.size();
        var all = new StringBuilder(CLEAR_SCREEN);
        said.forEach(text -> all.append(lines(text)));
        print(all + (last == null ? "" : frame(last)));
    }

    private String lines(Said text) {
        var lines = new StringBuilder();
        for (var line : Line.wrapped(text.text(), text.look(), size.columns() - 1)) {
            lines.append(line.render(Integer.MAX_VALUE, terminal.hasColour())).append('\n');
        }
        return lines.toString();
    }

    private String frame(Moment moment) {
        var lines = new Frame(size, terminal.hasUnicode()).draw(moment);
        drawnLines = lines.size();
        var frame = new StringBuilder(HIDE_CURSOR);
        for (var line : lines) {
            frame.append(line.render(size.columns() - 1, terminal.hasColour()))
                    .append(ERASE_REST_OF_LINE)
                    .append('\n');
        }
        return frame.append(ERASE_BELOW).toString();
    }

    private String toTop() {
        return drawnLines == 0 ? "" : "\u001b[" + drawnLines + "A\r";
    }

    private void print(String text) {
        terminal.out().print(text);
        terminal.out().flush();
    }

    @Override
    public void close() {
        print(SHOW_CURSOR);
    }
}
