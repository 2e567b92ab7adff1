package dev.steadwork.benchmarks.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The time of all processors since the machine was started, and how much of it other tenants of the same hardware got while
 * this machine wanted it. Where that is not told, nothing was stolen.
 */
public record ProcessorTime(long all, long stolen) {
    private static final Path FILE = Path.of("/proc/stat");
    private static final int TIMES = 8; // user, nice, system, idle, iowait, irq, softirq, steal

    public static ProcessorTime now() throws IOException {
        if (!Files.exists(FILE)) {
            return new ProcessorTime(0, 0);
        }
        try (var lines = Files.lines(FILE)) {
            var times = Stream.of(lines.findFirst().orElse("cpu").split("\\s+"))
                    .skip(1)
                    .limit(TIMES)
                    .map(Long::valueOf)
                    .toList();
            return new ProcessorTime(
                    times.stream().mapToLong(time -> time).sum(), times.size() == TIMES ? times.get(TIMES - 1) : 0);
        }
    }

    /** Between 0 and 1. */
    public double stolenSince(ProcessorTime before) {
        return all == before.all ? 0 : (stolen - before.stolen) / (double) (all - before.all);
    }
}
