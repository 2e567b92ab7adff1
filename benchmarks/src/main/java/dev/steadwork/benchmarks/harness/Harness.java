package dev.steadwork.benchmarks.harness;

import dev.steadwork.benchmarks.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The command {@code benchmarks/run}: measures what was asked for and writes the report. */
public final class Harness {
    private static final int USAGE = 64;

    private final Options options;
    private final Path home;

    private Harness(Options options, Path home) {
        this.options = options;
        this.home = home;
    }

    public static void main(String[] arguments) throws Exception {
        var home = Path.of(System.getProperty("benchmarks.home", "benchmarks"));
        try {
            if (List.of(arguments).contains("--help")) {
                System.out.print(usage());
                return;
            }
            new Harness(Options.parse(List.of(arguments), home), home).run(List.of(arguments));
        } catch (UsageError e) {
            System.err.printf("benchmarks: %s%nbenchmarks/run --help shows the options.%n", e.getMessage());
            System.exit(USAGE);
        }
    }

    private static String usage() throws IOException {
        try (var text = Harness.class.getResourceAsStream("usage.txt")) {
            if (text == null) {
                throw new IllegalStateException("the usage text is not on the class path");
            }
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void run(List<String> arguments) throws Exception {
        if (options.reportOnly()) {
            if (!Files.exists(options.results().resolve("results.txt"))) {
                throw new UsageError("there are no results in %s".formatted(options.results()));
            }
        } else {
            measure(arguments);
        }
        Report.write(options.results());
        System.out.println(Files.readString(options.results().resolve("report.md")));
        System.err.println("Written to " + options.results());
    }

    private void measure(List<String> arguments) throws Exception {
        Files.createDirectories(options.results());
        var work = Files.createTempDirectory(Files.createDirectories(home.resolve("target")), "work");
        var node = new NodePeers(home);
        var chosen = withoutAbsent(node);
        try (var cluster = Cluster.start(work)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> leaveNothing(cluster, work)));
            Machine.describe(home, cluster, arguments, options.results().resolve("machine.txt"));
            var processes = new Processes(options.results(), scale(work), node);
            var plan = new Plan(chosen, cluster, processes, work);
            for (int round = 1; round <= options.rounds(); round++) {
                plan.round(round);
                Report.write(options.results());
            }
            plan.once();
        }
    }

    private Options withoutAbsent(NodePeers node) throws IOException, InterruptedException {
        var peers = new HashSet<>(options.peers());
        if (options.parts().stream()
                .flatMap(part -> options.peersOf(part).stream())
                .noneMatch(NodePeers.NAMES::contains)) {
            return options;
        }
        var problem = node.install();
        if (!problem.isEmpty()) {
            peers.removeIf(peer -> NodePeers.NAMES.contains(peer.split(":")[0]));
            System.err.printf("Left out: %s. %s%n", String.join(", ", NodePeers.NAMES), problem);
        }
        return options.withPeers(peers);
    }

    private Map<String, String> scale(Path work) {
        var scale = new LinkedHashMap<String, String>();
        scale.put("work", work.toString());
        scale.put("horizon", Integer.toString(options.horizonMinutes() * 60));
        if (options.quick()) {
            scale.put("jobs", "2000");
            scale.put("workflows", "2000");
            scale.put("seconds", "5");
            scale.put("warm", "1");
            scale.put("timers", "1000");
            scale.put("kills", "2");
            scale.put("sleepers", "1000");
            scale.put("horizon.rate", "500");
            scale.put("expired", "20000");
        }
        return scale;
    }

    /** Also after Ctrl-C: measured processes, the server and its files. */
    private static void leaveNothing(Cluster cluster, Path work) {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        try {
            cluster.close();
        } catch (IOException e) {
            System.err.printf("Postgres could not be stopped: %s%n", e.getMessage());
        }
        delete(work);
    }

    private static void delete(Path directory) {
        try (var files = Files.walk(directory)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            System.err.printf("%s could not be removed: %s%n", directory, e.getMessage());
        }
    }
}
