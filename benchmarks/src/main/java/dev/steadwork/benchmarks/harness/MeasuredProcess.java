package dev.steadwork.benchmarks.harness;

import dev.steadwork.benchmarks.measure.ProcessorTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process that was started to be measured: it prints numbers and, beside others, asks for its turns. */
final class MeasuredProcess {
    private static final String RESULT = "RESULT ";
    private static final String TURN = "TURN ";
    /** In place of a phase: there is nothing more to come. */
    private static final int ENDED = -1;

    private final Measurement measurement;
    private final Process process;
    private final Numbers numbers;
    private final BlockingQueue<Integer> asked = new LinkedBlockingQueue<>();
    private final Thread reader;
    private int phase = ENDED;
    private int lastTurn;
    private boolean isInTime = true;
    private long workedNanos;
    private ProcessorTime time = new ProcessorTime(0, 0);

    /** Takes a number that the process printed. */
    @FunctionalInterface
    interface Numbers {
        void file(String metric, String value) throws IOException;
    }

    MeasuredProcess(Measurement measurement, Process process, Numbers numbers) {
        this.measurement = measurement;
        this.process = process;
        this.numbers = numbers;
        this.reader = Thread.ofPlatform().daemon().start(this::readAll);
    }

    /** Whether it waits for a turn; otherwise it has ended. */
    boolean isAsking() {
        return phase != ENDED;
    }

    int phase() {
        return phase;
    }

    int lastTurn() {
        return lastTurn;
    }

    /** Has the turn until it asks for the next one, or ends. */
    void work(int turn) throws IOException, InterruptedException {
        lastTurn = turn;
        signal("CONT");
        grant();
        awaitAsking();
    }

    private void grant() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException hasDied) {
            // while it was stopped: its output has ended too, which says so
        }
    }

    /** What it does until then counts as its own work. Stopped when it asks. */
    void awaitAsking() throws IOException, InterruptedException {
        var before = ProcessorTime.now();
        long began = System.nanoTime();
        long left = TimeUnit.SECONDS.toNanos(measurement.limitSeconds()) - workedNanos;
        var next = asked.poll(left, TimeUnit.NANOSECONDS);
        workedNanos += System.nanoTime() - began;
        time = time.plus(ProcessorTime.now().minus(before));
        if (next == null) {
            isInTime = false;
            destroy();
        }
        phase = next == null ? ENDED : next;
        if (isAsking()) {
            signal("STOP");
        }
    }

    /** What it lost to other tenants of the machine while it worked, in percent. */
    String stolenPercent() {
        return String.format(Locale.ROOT, "%.1f", 100 * time.stolenShare());
    }

    boolean isInTime() {
        return isInTime;
    }

    /** Whether it came to a good end. */
    boolean isGood() throws InterruptedException {
        process.waitFor();
        reader.join(5000);
        return isInTime && process.exitValue() == 0;
    }

    private void destroy() throws InterruptedException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
    }

    private void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    private void readAll() {
        try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(RESULT)) {
                    var words = line.substring(RESULT.length()).split(" ");
                    numbers.file(words[0], words[1]);
                } else if (line.startsWith(TURN)) {
                    asked.add(Integer.valueOf(line.substring(TURN.length())));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            asked.add(ENDED);
        }
    }
}
