package dev.steadwork.benchmarks.report;

import java.util.Collections;
import java.util.List;

/** One bar per peer with the range of its rounds. */
final class Bars {
    private static final int WIDTH = 720;
    private static final int LEFT = 150;
    private static final int RIGHT = 110;
    private static final int ROW = 26;
    private static final int TOP = 44;

    private Bars() {}

    record Bar(String peer, double value, double least, double most) {
        static Bar of(Results results, String peer, String metric) {
            var values = results.values(peer, metric).values();
            return new Bar(
                    peer, results.median(peer, metric).orElse(0), Collections.min(values), Collections.max(values));
        }
    }

    static String draw(String title, List<Bar> bars) {
        var svg = new Svg(WIDTH, TOP + bars.size() * ROW + 16);
        svg.text(16, 26, "start", 15, Svg.INK, title);
        double largest = bars.stream().mapToDouble(Bar::most).max().orElse(1);
        double scale = (WIDTH - LEFT - RIGHT) / largest;
        int y = TOP;
        for (var bar : bars) {
            svg.text(LEFT - 8, y + 15, "end", 12, Svg.INK, bar.peer());
            svg.rect(LEFT, y + 3, bar.value() * scale, ROW - 8, Svg.colourOf(bar.peer()));
            if (bar.most() > bar.least()) {
                svg.line(LEFT + bar.least() * scale, y + 12, LEFT + bar.most() * scale, y + 12, Svg.INK, 1);
            }
            svg.text(LEFT + bar.most() * scale + 6, y + 16, "start", 12, Svg.INK, Numbers.show(bar.value()));
            y += ROW;
        }
        return svg.toString();
    }
}
