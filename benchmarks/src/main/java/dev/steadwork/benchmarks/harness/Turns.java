package dev.steadwork.benchmarks.harness;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;

/**
 * Lets processes that are measured side by side work one at a time, a pass each, while the others are stopped: what a machine
 * does to one of them within a minute it then does to all. The phase that somebody has yet to end goes first.
 */
final class Turns {
    private final List<MeasuredProcess> all;

    Turns(List<MeasuredProcess> all) {
        this.all = all;
    }

    /** Until all have ended. */
    void run() throws IOException, InterruptedException {
        for (var process : all) {
            process.awaitAsking();
        }
        for (int turn = 1; ; turn++) {
            var next = all.stream()
                    .filter(MeasuredProcess::isAsking)
                    .min(Comparator.comparing(MeasuredProcess::phase).thenComparing(MeasuredProcess::lastTurn));
            if (next.isEmpty()) {
                return;
            }
            next.get().work(turn);
        }
    }
}
