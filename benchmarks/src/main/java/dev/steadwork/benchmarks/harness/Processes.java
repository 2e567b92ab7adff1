package dev.steadwork.benchmarks.harness;

import dev.steadwork.benchmarks.measure.Measure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Starts measured processes and files what they print. */
final class Processes {
    /** The class path of another build of Steadwork, which then takes part in what is measured in turns. */
    private static final String BENCH_BEFORE = "BENCH_BEFORE";

    private static final String BEFORE = "before";

    private final Path numbers;
    private final Path errors;
    private final Map<String, String> scale;
    private final NodePeers node;

    /** @param scale system properties of every Java process; the ones of node are their upper-case names */
    Processes(Path results, Map<String, String> scale, NodePeers node) throws IOException {
        this.numbers = results.resolve("results.txt");
        this.errors = results.resolve("errors.log");
        this.scale = scale;
        this.node = node;
        Files.writeString(numbers, "");
        Files.writeString(errors, "");
    }

    /** Whether it came to a good end; a bad one is a number of its own and does not stop the others. */
    boolean run(Measurement measurement) throws IOException, InterruptedException {
        announce(measurement);
        var process = start(measurement);
        new Turns(List.of(process)).run();
        return end(measurement, process);
    }

    /** Other builds that are measured beside the peers. */
    static List<String> otherBuilds() {
        return System.getenv(BENCH_BEFORE) == null ? List.of() : List.of(BEFORE);
    }

    /** Side by side, in turns. */
    void run(List<Measurement> measurements) throws IOException, InterruptedException {
        var processes = new LinkedHashMap<Measurement, MeasuredProcess>();
        for (var measurement : measurements) {
            announce(measurement);
            processes.put(measurement, start(measurement.with(Map.of("turns", "true"))));
        }
        new Turns(List.copyOf(processes.values())).run();
        for (var each : processes.entrySet()) {
            end(each.getKey(), each.getValue());
        }
    }

    private void announce(Measurement measurement) throws IOException {
        append(errors, "== %s%n".formatted(measurement.title()));
        System.err.printf("== %s%s%n", measurement.title(), load());
    }

    private MeasuredProcess start(Measurement measurement) throws IOException {
        var builder = new ProcessBuilder(command(measurement));
        var environment = builder.environment();
        environment.putAll(measurement.environment());
        scale.forEach((name, value) -> environment.put(NodePeers.variable(name), value));
        measurement.properties().forEach((name, value) -> environment.put(NodePeers.variable(name), value));
        builder.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
        return new MeasuredProcess(measurement, builder.start(), (metric, value) -> file(measurement, metric, value));
    }

    private boolean end(Measurement measurement, MeasuredProcess process) throws IOException, InterruptedException {
        boolean good = process.isGood();
        file(measurement, "stolen_percent_" + String.join("_", measurement.arguments()), process.stolenPercent());
        if (!process.isInTime()) {
            append(errors, "%s: stopped after %d seconds%n".formatted(measurement.title(), measurement.limitSeconds()));
        }
        if (!good) {
            file(measurement, "failed_" + measurement.arguments().get(0), "1");
            System.err.printf("   %s failed; see %s%n", measurement.peer(), errors);
        }
        return good;
    }

    private void file(Measurement measurement, String metric, String value) throws IOException {
        file(measurement.round(), measurement.peer(), measurement.prefix() + metric, value);
    }

    synchronized void file(String round, String peer, String metric, String value) throws IOException {
        append(numbers, "%s %s %s %s%n".formatted(round, peer, metric, value));
    }

    private List<String> command(Measurement measurement) {
        if (NodePeers.NAMES.contains(measurement.peer())) {
            return node.command(measurement);
        }
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + measurement.heap());
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(jvmOptions());
        scale.forEach((name, value) -> command.add("-D%s=%s".formatted(name, value)));
        measurement.properties().forEach((name, value) -> command.add("-D%s=%s".formatted(name, value)));
        boolean isBefore = measurement.peer().equals(BEFORE);
        command.addAll(List.of(
                "-cp",
                isBefore ? System.getenv(BENCH_BEFORE) : System.getProperty("java.class.path"),
                Measure.class.getName(),
                isBefore ? "steadwork" : measurement.peer()));
        command.addAll(measurement.arguments());
        return command;
    }

    /** For profiles: options of all measured Java processes. */
    private static List<String> jvmOptions() {
        var given = System.getenv().getOrDefault("BENCH_JVM_OPTIONS", "").strip();
        return given.isEmpty() ? List.of() : List.of(given.split("\\s+"));
    }

    private static String load() {
        try {
            return " (load " + Files.readString(Path.of("/proc/loadavg")).split(" ")[0] + ")";
        } catch (IOException notLinux) {
            return "";
        }
    }

    private static void append(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
