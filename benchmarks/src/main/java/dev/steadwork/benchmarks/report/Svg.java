package dev.steadwork.benchmarks.report;

import java.util.Locale;

/** Shapes and words on a white sheet. */
final class Svg {
    static final String INK = "#1f2933";
    static final String PALE = "#9aa5b1";
    static final String GRID = "#e4e7eb";
    private static final String[] SERIES = {"#0b69a3", "#de911d", "#8719e0", "#ab091e", "#147d64", "#5d5d5d"};

    private final StringBuilder shapes = new StringBuilder();
    private final int width;
    private final int height;

    Svg(int width, int height) {
        this.width = width;
        this.height = height;
    }

    /** Steadwork and the raw limit have the same colour everywhere. */
    static String colourOf(String peer) {
        return switch (peer) {
            case "steadwork" -> SERIES[0];
            case "raw", "raw, group commit", "raw, a commit each" -> PALE;
            default -> "#cbd2d9";
        };
    }

    static String colour(int series) {
        return SERIES[series % SERIES.length];
    }

    Svg rect(double x, double y, double w, double h, String fill) {
        return add("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'/>", x, y, Math.max(w, 1), h, fill);
    }

    Svg line(double x1, double y1, double x2, double y2, String stroke, double thickness) {
        return add(
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='%.1f'/>",
                x1, y1, x2, y2, stroke, thickness);
    }

    Svg dot(double x, double y, double radius, String fill) {
        return add("<circle cx='%.1f' cy='%.1f' r='%.1f' fill='%s'/>", x, y, radius, fill);
    }

    /** @param anchor start, middle or end */
    Svg text(double x, double y, String anchor, int size, String fill, String text) {
        var escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        return add(
                "<text x='%.1f' y='%.1f' text-anchor='%s' font-size='%d' fill='%s'>%s</text>",
                x, y, anchor, size, fill, escaped);
    }

    private Svg add(String shape, Object... values) {
        shapes.append(String.format(Locale.ROOT, shape, values)).append('\n');
        return this;
    }

    @Override
    public String toString() {
        var sheet = """
                <svg xmlns='http://www.w3.org/2000/svg' width='%1$d' height='%2$d' viewBox='0 0 %1$d %2$d' font-family='sans-serif'>
                <rect width='100%%' height='100%%' fill='white'/>
                """;
        return sheet.formatted(width, height) + shapes + "</svg>\n";
    }
}
