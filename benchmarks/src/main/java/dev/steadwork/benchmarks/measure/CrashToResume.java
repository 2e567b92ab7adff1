package dev.steadwork.benchmarks.measure;

import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * W8: a worker process is killed with -9 just after it kept a step, so with nearly its whole lease left; the time until the
 * next step begins in this process.
 */
final class CrashToResume {
    private static final Workflow<String, String> TWO = Workflow.define("two", String.class, String.class);
    private static final String READY = "READY";
    private static final String KEPT = "KEPT";
    private static final Duration LEASE = Duration.ofSeconds(Scale.LEASE_SECONDS);

    private CrashToResume() {}

    static void run() throws Exception {
        var millis = new double[Scale.KILLS];
        try (var steadwork = open()) {
            steadwork.register(TWO);
            for (int i = 0; i < millis.length; i++) {
                millis[i] = killOnce(steadwork);
            }
        }
        Arrays.sort(millis);
        Output.result("w8_lease_ms", LEASE.toMillis());
        Output.result("w8_resume_ms", millis[millis.length / 2]);
        Output.result("w8_resume_minus_lease_ms", millis[millis.length / 2] - LEASE.toMillis());
        Output.result("w8_worst_resume_minus_lease_ms", millis[millis.length - 1] - LEASE.toMillis());
    }

    private static Steadwork open() {
        return SteadworkPeer.builder()
                .lease(LEASE)
                .heartbeat(LEASE.dividedBy(3))
                .open();
    }

    private static double killOnce(Steadwork steadwork) throws Exception {
        var victim = ChildProcess.builder("steadwork", "victim")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var said = victim.inputReader(StandardCharsets.UTF_8)) {
            awaitLine(said, READY);
            var run = steadwork.workflow(TWO).trigger("");
            awaitLine(said, KEPT);
            return killAndAwait(steadwork, victim, run);
        } finally {
            victim.destroyForcibly().waitFor();
        }
    }

    private static double killAndAwait(Steadwork steadwork, Process victim, RunHandle<String> run) throws Exception {
        var resumed = new CompletableFuture<Long>();
        try (var rescuer = steadwork
                .worker()
                .handle(TWO, (ctx, input) -> {
                    ctx.run(
                            "first",
                            () -> resumed.completeExceptionally(new IllegalStateException("the step was not kept")));
                    ctx.run("second", () -> resumed.complete(System.nanoTime()));
                    return input;
                })
                .start()) {
            long killed = System.nanoTime();
            victim.destroyForcibly();
            long second = resumed.get(LEASE.toSeconds() + 60, TimeUnit.SECONDS);
            run.await(Duration.ofMinutes(1)); // before the next victim, which would take it
            return (second - killed) / 1e6;
        }
    }

    private static void awaitLine(BufferedReader said, String wanted) throws IOException {
        for (var line = said.readLine(); !wanted.equals(line); line = said.readLine()) {
            if (line == null) {
                throw new IllegalStateException("the worker process ended before it said " + wanted);
            }
        }
    }

    /** The process that is killed: keeps its first step and never ends its second. */
    static void victim() throws InterruptedException {
        var steadwork = open();
        steadwork
                .worker()
                .handle(TWO, (ctx, input) -> {
                    ctx.run("first", () -> {});
                    System.out.println(KEPT);
                    ctx.run("second", () -> Thread.sleep(Duration.ofHours(1)));
                    return input;
                })
                .start();
        System.out.println(READY);
        Thread.sleep(Duration.ofHours(1));
    }
}
