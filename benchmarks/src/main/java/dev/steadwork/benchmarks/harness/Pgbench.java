package dev.steadwork.benchmarks.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Postgres's own measure of this machine, if it is installed: the binaries that the build brings are without it. */
final class Pgbench {
    private static final Pattern RATE = Pattern.compile("(?m)^tps = ([0-9.]+)");

    private final Cluster cluster;
    private final Processes processes;
    private final int seconds;

    Pgbench(Cluster cluster, Processes processes, int seconds) {
        this.cluster = cluster;
        this.processes = processes;
        this.seconds = seconds;
    }

    void run(String round) throws IOException, InterruptedException, SQLException {
        var program = find();
        if (program.isEmpty()) {
            System.err.println("== pgbench was not found and is left out");
            return;
        }
        System.err.printf("== round %s: pgbench%n", round);
        var database = cluster.newDatabase(true);
        call(program.get(), database, "-q", "-i", "-s", "10");
        measure(round, program.get(), database, "select", "-S");
        measure(round, program.get(), database, "tpcb", "-btpcb-like");
    }

    private void measure(String round, Path program, String database, String name, String script)
            throws IOException, InterruptedException {
        var said = call(
                program, database, script, "-M", "prepared", "-c", "16", "-j", "2", "-T", Integer.toString(seconds));
        var rate = RATE.matcher(said);
        if (rate.find()) {
            processes.file(round, "raw", "e_pgbench_" + name + "_16conn_per_s", rate.group(1));
        }
    }

    private String call(Path program, String database, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of("-h", "127.0.0.1", "-p", Integer.toString(cluster.port()), "-U", Cluster.USER));
        command.addAll(List.of(arguments));
        command.add(database);
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    private static Optional<Path> find() throws IOException {
        var path = Arrays.stream(
                        System.getenv().getOrDefault("PATH", "").split(Pattern.quote(java.io.File.pathSeparator)))
                .map(directory -> Path.of(directory, "pgbench"));
        return Stream.concat(path, debian()).filter(Files::isExecutable).findFirst();
    }

    /** Debian keeps each version's programs in a directory of its own; the newest first. */
    private static Stream<Path> debian() throws IOException {
        var versions = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(versions)) {
            return Stream.empty();
        }
        try (var all = Files.list(versions)) {
            return all.sorted(Comparator.reverseOrder()).toList().stream()
                    .map(version -> version.resolve("bin/pgbench"));
        }
    }
}
