package dev.steadwork.benchmarks.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * How much time of its processors this machine has wanted since it was started, and how much of that other tenants of the same
 * hardware got. Where that is not told, nothing was stolen.
 */
public record ProcessorTime(long wanted, long stolen) {
    private static final Path FILE = Path.of("/proc/stat");
    /** In the order of the file: user, nice, system, idle, iowait, irq, softirq, steal. */
    private static final int TIMES = 8;

    private static final int IDLE = 3;
    private static final int WAITING = 4;
    private static final int STOLEN = 7;

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
            if (times.size() < TIMES) {
                return new ProcessorTime(0, 0);
            }
            long all = times.stream().mapToLong(time -> time).sum();
            return new ProcessorTime(all - times.get(IDLE) - times.get(WAITING), times.get(STOLEN));
        }
    }

    public ProcessorTime minus(ProcessorTime other) {
        return new ProcessorTime(wanted - other.wanted, stolen - other.stolen);
    }

    public ProcessorTime plus(ProcessorTime other) {
        return new ProcessorTime(wanted + other.wanted, stolen + other.stolen);
    }

    /** Between 0 and 1. */
    public double stolenShare() {
        return wanted == 0 ? 0 : stolen / (double) wanted;
    }

    double stolenSince(ProcessorTime before) {
        return minus(before).stolenShare();
    }
}
