package dev.steadwork.benchmarks.report;

import java.util.List;

/** Percentiles of each peer on a logarithmic scale. */
final class Dots {
    private static final int WIDTH = 720;
    private static final int LEFT = 150;
    private static final int RIGHT = 40;
    private static final int ROW = 28;
    private static final int TOP = 74;
    private static final String[] NAMES = {"p50", "p95", "p99"};

    private Dots() {}

    /** @param percentiles p50, p95 and p99 */
    record Row(String peer, double[] percentiles) {}

    static String draw(String title, List<Row> rows) {
        var svg = new Svg(WIDTH, TOP + rows.size() * ROW + 16);
        svg.text(16, 26, "start", 15, Svg.INK, title);
        for (int i = 0; i < NAMES.length; i++) {
            svg.dot(LEFT + i * 60, 44, 5, Svg.colour(i)).text(LEFT + 10 + i * 60, 48, "start", 12, Svg.INK, NAMES[i]);
        }
        double least =
                rows.stream().mapToDouble(row -> row.percentiles()[0]).min().orElse(1);
        double most =
                rows.stream().mapToDouble(row -> row.percentiles()[2]).max().orElse(10);
        double from = Math.floor(Math.log10(Math.max(least, 0.01)));
        double to = Math.max(from + 1, Math.ceil(Math.log10(most)));
        double scale = (WIDTH - LEFT - RIGHT) / (to - from);
        int bottom = TOP + rows.size() * ROW;
        for (double power = from; power <= to; power++) {
            double x = LEFT + (power - from) * scale;
            svg.line(x, TOP - 8, x, bottom, Svg.GRID, 1);
            svg.text(x, TOP - 12, "middle", 11, Svg.PALE, Numbers.brief(Math.pow(10, power)));
        }
        int y = TOP;
        for (var row : rows) {
            svg.text(LEFT - 8, y + 16, "end", 12, Svg.INK, row.peer());
            double first = LEFT + (Math.log10(row.percentiles()[0]) - from) * scale;
            double last = LEFT + (Math.log10(row.percentiles()[2]) - from) * scale;
            svg.line(first, y + 12, last, y + 12, Svg.colourOf(row.peer()), 3);
            for (int i = 0; i < NAMES.length; i++) {
                svg.dot(LEFT + (Math.log10(row.percentiles()[i]) - from) * scale, y + 12, 5, Svg.colour(i));
            }
            y += ROW;
        }
        return svg.toString();
    }
}
