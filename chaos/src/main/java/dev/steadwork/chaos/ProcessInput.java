package dev.steadwork.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** What the runner tells a process it has started. A process whose runner is gone ends. */
final class ProcessInput {
    private ProcessInput() {}

    static void read(Consumer<String> lines) {
        var thread = new Thread(() -> readAll(lines), "input");
        thread.setDaemon(true);
        thread.start();
    }

    private static void readAll(Consumer<String> lines) {
        try (var reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (var line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.accept(line);
            }
        } catch (IOException gone) {
            // as good as the end
        }
        Runtime.getRuntime().halt(1);
    }
}
