package dev.steadwork.testing;

import dev.steadwork.Steadwork;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A worker in a process of its own that plays {@link Script}s and reports on its output. Arguments: the URL and the lease.
 * Any line on its input lets held steps go; the end of its input ends it.
 */
public final class TestWorkerMain {
    private TestWorkerMain() {}

    public static void main(String[] args) {
        var lease = Duration.parse(args[1]);
        var script = new Script(System.out::println);
        var input = new Thread(() -> readInput(script));
        input.setDaemon(true);
        input.start();
        var steadwork = Steadwork.builder()
                .url(args[0])
                .lease(lease)
                .heartbeat(lease.dividedBy(4))
                .pollInterval(Duration.ofMillis(500))
                .poolSize(4)
                .open();
        try (steadwork) {
            var worker = steadwork
                    .worker()
                    .handle(Script.SCRIPT, script)
                    .handle(Script.OTHER, script)
                    .start();
            worker.join();
            System.out.println("ended");
        }
    }

    private static void readInput(Script script) {
        try (var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while (lines.readLine() != null) {
                script.go();
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
        Runtime.getRuntime().halt(1);
    }
}
