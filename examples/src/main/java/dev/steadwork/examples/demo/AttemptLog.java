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
import org.jspecify.annotations.Nullable;

/**
 * A file in which every process of the demo notes what it does, as it does it: a witness beside the database, so that the
 * summary does not have to believe the engine. One short line per write, so that a kill leaves whole lines.
 */
final class AttemptLog {
    private final Path file;
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

    /** One line of the file; step and attempt mean nothing for {@link Event#ACCEPTED}. */
    record Entry(Instant at, Event event, RunId run, String step, int attempt, long pid) {
        private String line() {
            return String.join(
                            "\t",
                            Long.toString(at.toEpochMilli()),
                            event.name(),
                            run.toString(),
                            step,
                            Integer.toString(attempt),
                            Long.toString(pid))
                    + "\n";
        }

        private static @Nullable Entry parse(String line) {
            var fields = line.split("\t", -1);
            if (fields.length != 6) {
                return null;
            }
            return new Entry(
                    Instant.ofEpochMilli(Long.parseLong(fields[0])),
                    Event.valueOf(fields[1]),
                    RunId.parse(fields[2]),
                    fields[3],
                    Integer.parseInt(fields[4]),
                    Long.parseLong(fields[5]));
        }
    }

    AttemptLog(Path file) {
        this.file = file;
    }

    void append(Event event, RunId run, String step, int attempt) {
        var entry = new Entry(
                Instant.now(),
                event,
                run,
                step,
                attempt,
                ProcessHandle.current().pid());
        try {
            Files.writeString(file, entry.line(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
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
