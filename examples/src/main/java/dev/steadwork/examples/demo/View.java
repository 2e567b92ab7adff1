package dev.steadwork.examples.demo;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Shows people what happens. */
interface View extends AutoCloseable {
    /** The view that suits the terminal. */
    static View on(Terminal terminal) {
        return terminal.isLive() ? new LiveView(terminal) : new PlainView(terminal.out());
    }

    /**
     * What is shown at one moment.
     *
     * @param elapsed since the demo began
     * @param worker who works now
     * @param rows one per order
     */
    record Moment(Duration elapsed, String worker, List<Board.Row> rows) {
        long steps() {
            return (long) rows.size() * Orders.STEPS.size();
        }

        long kept() {
            return rows.stream().mapToLong(Board.Row::kept).sum();
        }

        long ended() {
            return rows.stream().filter(row -> row.status().isTerminal()).count();
        }
    }

    /** Shows how things stand. */
    void show(Moment moment);

    /** Says something that stays on the screen. */
    void say(Line.Look look, String text);

    /** Leaves the terminal as it was found. */
    @Override
    void close();

    static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
    }
}
