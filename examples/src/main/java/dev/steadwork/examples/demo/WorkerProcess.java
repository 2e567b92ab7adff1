package dev.steadwork.examples.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A worker in a JVM of its own, which can really be killed. */
final class WorkerProcess implements AutoCloseable {
    /** The exit code of a process that a signal ended is this plus the number of the signal. */
    private static final int SIGNALLED = 128;

    private final String name;
    private final Process process;

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
    }

    static WorkerProcess start(String name, DemoFiles files, int concurrency) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), DemoWorker.class.getName()));
        command.addAll(
                List.of(files.database().toString(), files.attempts().toString(), Integer.toString(concurrency)));
        var output = Redirect.appendTo(files.workerOutput().toFile());
        try {
            return new WorkerProcess(
                    name,
                    new ProcessBuilder(command)
                            .redirectOutput(output)
                            .redirectError(output)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException("a worker process could not be started", e);
        }
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Whether it was ended by a signal, as opposed to by itself. */
    boolean wasKilled() {
        return !isAlive() && process.exitValue() > SIGNALLED;
    }

    /** What {@code kill -9} does: the process has no chance to say anything. Returns when it is gone. */
    void kill() {
        process.destroyForcibly();
        waitFor(10);
    }

    /** Asks the worker to drain and end, and insists after a while. */
    @Override
    public void close() {
        process.destroy();
        if (!waitFor(5)) {
            kill();
        }
    }

    private boolean waitFor(long seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
