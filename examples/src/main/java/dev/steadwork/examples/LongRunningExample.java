package dev.steadwork.examples;

import dev.steadwork.RunCancelledException;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** A step longer than its lease: heartbeats keep the run, everybody sees what it is doing, and it can be cancelled. */
public final class LongRunningExample {
    static final Workflow<Integer, Integer> EXPORT = Workflow.define("export", Integer.class, Integer.class);

    private LongRunningExample() {}

    static Integer export(WorkflowContext ctx, Integer pages) {
        return ctx.step("write", Integer.class, step -> {
            int page = 0;
            try {
                while (page < pages && !step.cancelRequested()) {
                    Thread.sleep(100); // a cancel interrupts it: let that pass, and clean up
                    page++;
                }
                return page;
            } finally {
                System.out.println(step.cancelRequested() ? "half a file is removed" : "the file is complete");
            }
        });
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.builder()
                .url(ExampleDatabase.url(args))
                .lease(Duration.ofSeconds(1))
                .heartbeat(Duration.ofMillis(200))
                .open()) {
            steadwork.worker().handle(EXPORT, LongRunningExample::export).start();

            var shortOne = steadwork.workflow(EXPORT).trigger(25);
            System.out.println("executing: " + awaitRunningStep(shortOne));
            shortOne.await(Duration.ofSeconds(30));
            System.out.printf(
                    "took 2.5 leases, lost %d%n", shortOne.info().lease().lost());

            var longOne = steadwork.workflow(EXPORT).trigger(1_000_000);
            System.out.println("executing: " + awaitRunningStep(longOne));
            longOne.cancel();
            try {
                longOne.await(Duration.ofSeconds(30));
            } catch (RunCancelledException ended) {
                System.out.println("now " + longOne.status());
            }
        }
    }

    private static String awaitRunningStep(RunHandle<?> run) throws InterruptedException {
        var step = run.info().runningStep();
        while (step == null) {
            Thread.sleep(50);
            step = run.info().runningStep();
        }
        return step.name();
    }
}
