package dev.steadwork.benchmarks.report;

import java.util.List;

/** Lines over the same places of an axis, from zero. */
final class Curves {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 340;
    private static final int LEFT = 70;
    private static final int RIGHT = 230;
    private static final int TOP = 50;
    private static final int BOTTOM = 46;

    private Curves() {}

    /** @param values one for each place; not a number where there is none */
    record Curve(String name, double[] values) {}

    static String draw(String title, List<String> places, List<Curve> curves) {
        var svg = new Svg(WIDTH, HEIGHT);
        svg.text(16, 26, "start", 15, Svg.INK, title);
        double most = curves.stream()
                .flatMapToDouble(curve -> java.util.Arrays.stream(curve.values()))
                .filter(Double::isFinite)
                .max()
                .orElse(1);
        double scale = (HEIGHT - TOP - BOTTOM) / most;
        double step = (WIDTH - LEFT - RIGHT) / (double) Math.max(1, places.size() - 1);
        for (int quarter = 0; quarter <= 4; quarter++) {
            double value = most * quarter / 4;
            double y = HEIGHT - BOTTOM - value * scale;
            svg.line(LEFT, y, WIDTH - RIGHT, y, Svg.GRID, 1);
            svg.text(LEFT - 8, y + 4, "end", 11, Svg.INK, Numbers.show(value));
        }
        for (int i = 0; i < places.size(); i++) {
            svg.text(LEFT + i * step, HEIGHT - BOTTOM + 20, "middle", 11, Svg.INK, places.get(i));
        }
        for (int c = 0; c < curves.size(); c++) {
            draw(svg, curves.get(c), Svg.colour(c), step, scale);
            svg.dot(WIDTH - RIGHT + 20, TOP + 6 + c * 20, 5, Svg.colour(c));
            svg.text(
                    WIDTH - RIGHT + 30,
                    TOP + 10 + c * 20,
                    "start",
                    11,
                    Svg.INK,
                    curves.get(c).name());
        }
        return svg.toString();
    }

    private static void draw(Svg svg, Curve curve, String colour, double step, double scale) {
        var values = curve.values();
        for (int i = 0; i < values.length; i++) {
            double x = LEFT + i * step;
            double y = HEIGHT - BOTTOM - values[i] * scale;
            if (Double.isFinite(values[i])) {
                svg.dot(x, y, 4, colour);
            }
            if (i > 0 && Double.isFinite(values[i]) && Double.isFinite(values[i - 1])) {
                svg.line(x - step, HEIGHT - BOTTOM - values[i - 1] * scale, x, y, colour, 2);
            }
        }
    }
}
