package dev.steadwork.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a worker did, line by line, whether it is in this process or in another. */
public final class Report {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    public void add(String line) {
        lines.add(line);
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** The lines that begin with this word, without it. */
    public List<String> linesOf(String word) {
        return lines.stream()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1))
                .toList();
    }

    /** Waits until the line is there. */
    public void awaitLine(String line) {
        await().atMost(EngineTest.PATIENCE)
                .untilAsserted(() -> assertThat(lines).contains(line));
    }
}
