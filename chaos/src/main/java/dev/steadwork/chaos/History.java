package dev.steadwork.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What one process saw, line by line: with the operating system as soon as it is added, so that a kill loses none of it. */
final class History implements AutoCloseable {
    static final String SUFFIX = ".jsonl";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String process;
    private final OutputStream lines;

    private History(String process, OutputStream lines) {
        this.process = process;
        this.lines = lines;
    }

    static History open(Path folder, String process) {
        try {
            // Not a channel: an interrupt, which handlers get when their lease is lost, would close it.
            return new History(
                    process,
                    new FileOutputStream(folder.resolve(process + SUFFIX).toFile(), true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String process() {
        return process;
    }

    void add(Kind kind, String run, String step, long epoch, String value) {
        var fact = new Fact(
                ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()),
                System.nanoTime(),
                process,
                kind,
                run,
                step,
                epoch,
                value);
        try {
            var line = (JSON.writeValueAsString(fact) + "\n").getBytes(StandardCharsets.UTF_8);
            synchronized (lines) {
                lines.write(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What all processes saw, in the order of the machine's monotonic clock. */
    static List<Fact> read(Path folder) throws IOException {
        var facts = new ArrayList<Fact>();
        var known = new HashMap<String, String>();
        try (var files = Files.list(folder)) {
            for (var file : files.filter(path -> path.toString().endsWith(SUFFIX))
                    .sorted()
                    .toList()) {
                read(file, facts, known);
            }
        }
        facts.sort(Comparator.comparingLong(Fact::nanos));
        return facts;
    }

    private static void read(Path file, List<Fact> facts, Map<String, String> known) throws IOException {
        try (var reader = Files.newBufferedReader(file)) {
            for (var line = reader.readLine(); line != null; line = reader.readLine()) {
                try {
                    facts.add(compact(JSON.readValue(line, Fact.class), known));
                } catch (JsonProcessingException torn) {
                    if (reader.readLine() != null) {
                        throw new IOException(file + " has a line that is no fact: " + line, torn);
                    }
                }
            }
        }
    }

    /** Long histories repeat the same few names: one copy of each is enough. */
    private static Fact compact(Fact fact, Map<String, String> known) {
        return new Fact(
                fact.micros(),
                fact.nanos(),
                known.computeIfAbsent(fact.process(), name -> name),
                fact.kind(),
                known.computeIfAbsent(fact.run(), name -> name),
                known.computeIfAbsent(fact.step(), name -> name),
                fact.epoch(),
                known.computeIfAbsent(fact.value(), name -> name));
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
