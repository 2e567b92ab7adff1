package dev.steadwork.benchmarks.harness;

import dev.steadwork.benchmarks.measure.Measure;
import dev.steadwork.benchmarks.measure.ProcessorTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts measured processes one after the other and files what they print. */
final class Processes {
    private static final String RESULT = "RESULT ";

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
        append(errors, "== %s%n".formatted(measurement.title()));
        System.err.printf("== %s%s%n", measurement.title(), load());
        var builder = new ProcessBuilder(command(measurement));
        builder.environment().putAll(measurement.environment());
        scale.forEach((name, value) -> builder.environment().put(NodePeers.variable(name), value));
        builder.redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
        var before = ProcessorTime.now();
        boolean good = read(builder.start(), measurement);
        double stolen = ProcessorTime.now().stolenSince(before);
        file(
                measurement,
                "stolen_percent_" + String.join("_", measurement.arguments()),
                String.format(Locale.ROOT, "%.1f", 100 * stolen));
        if (!good) {
            file(measurement, "failed_" + measurement.arguments().get(0), "1");
            System.err.printf("   failed; see %s%n", errors);
        }
        return good;
    }

    private boolean read(Process process, Measurement measurement) throws IOException, InterruptedException {
        var reader = Thread.ofPlatform().daemon().start(() -> fileAll(process, measurement));
        boolean ended = process.waitFor(measurement.limitSeconds(), TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            append(errors, "stopped after %d seconds%n".formatted(measurement.limitSeconds()));
        }
        reader.join(5000);
        return ended && process.exitValue() == 0;
    }

    private void fileAll(Process process, Measurement measurement) {
        try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(RESULT)) {
                    var words = line.substring(RESULT.length()).split(" ");
                    file(measurement, words[0], words[1]);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void file(Measurement measurement, String metric, String value) throws IOException {
        file(measurement.round(), measurement.peer(), measurement.prefix() + metric, value);
    }

    void file(String round, String peer, String metric, String value) throws IOException {
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
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Measure.class.getName()));
        command.add(measurement.peer());
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
