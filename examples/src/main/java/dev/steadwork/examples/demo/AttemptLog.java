package dev.steadwork.examples.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.steadwork.RunId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file in which every process of the demo notes what it does, as it does it: a witness beside the database, so that the
 * summary does not have to believe the engine. One short line per write, so that a kill leaves whole lines.
 */
final class AttemptLog {
    private final Path file;
    private final AtomicLong lastNumber = new AtomicLong();
    private long offset;

    /** What was noted. */
    enum Event {
        /** A run was accepted. */
        ACCEPTED,
        /** An attempt of a step began. */
        STARTED,
        /** The body of a step is about to return. */
        DONE,
        /** The body of a step is about to throw. */
        FAILED
    }

    /**
     * One line of the file.
     *
     * @param step the step, empty for {@link Event#ACCEPTED}
     * @param attempt the number of the attempt as the engine counts
     * @param pid the process that noted it
     * @param number tells the executions of one process apart
     */
    record Entry(Instant at, Event event, RunId run, String step, int attempt, long pid, long number) {
        /** Who executed the step: no two executions have the same. */
        String executor() {
            return pid + "-" + number;
        }

        private Entry now(Event next) {
            return new Entry(Instant.now(), next, run, step, attempt, pid, number);
        }

        private String line() {
            return Stream.of(at.toEpochMilli(), event, run, step, attempt, pid, number)
                    .map(String::valueOf)
                    .collect(Collectors.joining("\t", "", "\n"));
        }

        private static @Nullable Entry parse(String line) {
            var fields = line.split("\t", -1);
            if (fields.length != 7) {
                return null;
            }
            return new Entry(
                    Instant.ofEpochMilli(Long.parseLong(fields[0])),
                    Event.valueOf(fields[1]),
                    RunId.parse(fields[2]),
                    fields[3],
                    Integer.parseInt(fields[4]),
                    Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]));
        }
    }

    AttemptLog(Path file) {
        this.file = file;
    }

    void accepted(RunId run) {
        append(entry(Event.ACCEPTED, run, "", 0));
    }

    /** Notes that an attempt begins; what is returned goes with its end. */
    Entry started(RunId run, String step, int attempt) {
        return append(entry(Event.STARTED, run, step, attempt));
    }

    void done(Entry started) {
        append(started.now(Event.DONE));
    }

    void failed(Entry started) {
        append(started.now(Event.FAILED));
    }

    private Entry entry(Event event, RunId run, String step, int attempt) {
        long pid = ProcessHandle.current().pid();
        return new Entry(Instant.now(), event, run, step, attempt, pid, lastNumber.incrementAndGet());
    }

    private Entry append(Entry entry) {
        try {
            Files.writeString(file, entry.line(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            return entry;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was noted since the last call. */
    List<Entry> readNew() {
        if (!Files.exists(file)) {
            return List.of();
        }
        try (var channel = FileChannel.open(file)) {
            var text =
                    new String(Channels.newInputStream(channel.position(offset)).readAllBytes(), UTF_8);
            var whole = text.substring(0, text.lastIndexOf('\n') + 1);
            offset += whole.getBytes(UTF_8).length;
            return whole.lines().map(Entry::parse).filter(Objects::nonNull).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
