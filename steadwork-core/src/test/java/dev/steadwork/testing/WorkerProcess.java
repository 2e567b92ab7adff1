package dev.steadwork.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A worker in a JVM of its own: it can be killed, asked to end, frozen and thawed. */
public final class WorkerProcess implements AutoCloseable {
    private final Process process;
    private final Report report = new Report();
    private final Thread reader;

    private WorkerProcess(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "output of worker " + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    public static WorkerProcess start(String url, Duration lease) {
        return start(url, lease, Map.of());
    }

    /** @param environment variables to be set beside those of this process */
    public static WorkerProcess start(String url, Duration lease, Map<String, String> environment) {
        return start(environment, System.getProperty("java.class.path"), TestWorkerMain.class, url, lease.toString());
    }

    /** Another program of the tests. */
    public static WorkerProcess start(Class<?> main, String... arguments) {
        return start(Map.of(), System.getProperty("java.class.path"), main, arguments);
    }

    /** Leaves the libraries with this word in their names out of its class path. */
    public static WorkerProcess startWithout(String library, String url, Duration lease) {
        var entries = System.getProperty("java.class.path").split(File.pathSeparator, -1);
        var left = Arrays.stream(entries)
                .filter(entry -> !Path.of(entry).getFileName().toString().contains(library))
                .toList();
        if (left.size() == entries.length) {
            throw new IllegalStateException("No " + library + " in the class path.");
        }
        return start(Map.of(), String.join(File.pathSeparator, left), TestWorkerMain.class, url, lease.toString());
    }

    private static WorkerProcess start(
            Map<String, String> environment, String classPath, Class<?> main, String... arguments) {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = new ArrayList<>(List.of(
                java, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        try {
            return new WorkerProcess(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        process.inputReader(StandardCharsets.UTF_8).lines().forEach(report::add);
    }

    /** What it did, and what it logged. */
    public Report report() {
        return report;
    }

    /** Lets its held steps end. */
    public void go() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code kill -9}; what it reported before is there when this returns. */
    public void kill() {
        process.toHandle().destroyForcibly();
        awaitEnd();
    }

    /** {@code kill -TERM}: asks it to end. */
    public void terminate() {
        process.toHandle().destroy();
    }

    /** Stops it in the middle of whatever it does, its leases run out. */
    public void freeze() {
        signal("STOP");
    }

    /** Lets it go on where it was frozen. */
    public void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            var kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill -%s %d failed".formatted(name, process.pid()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until it has ended, with all it reported. */
    public void awaitEnd() {
        try {
            if (!process.waitFor(EngineTest.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("The worker process has not ended: " + report.lines());
            }
            reader.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
