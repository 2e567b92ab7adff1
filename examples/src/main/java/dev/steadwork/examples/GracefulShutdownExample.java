package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A worker that is closed lets its step end and hands the run back; the next worker goes on with the next step. */
public final class GracefulShutdownExample {
    static final Workflow<String, String> BAKE = Workflow.define("bake", String.class, String.class);
    private static final CountDownLatch kneading = new CountDownLatch(1);

    private GracefulShutdownExample() {}

    static String bake(WorkflowContext ctx, String cake) {
        ctx.run("knead", () -> {
            kneading.countDown();
            Thread.sleep(500);
            System.out.println("kneaded");
        });
        return ctx.step("bake", String.class, step -> cake + " is ready");
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            var early = steadwork
                    .worker()
                    .handle(BAKE, GracefulShutdownExample::bake)
                    .start();
            var run = steadwork.workflow(BAKE).trigger("cake");
            kneading.await();

            early.close();
            System.out.printf(
                    "early worker closed: run is %s, %d step kept%n",
                    run.status(), run.steps().size());

            steadwork.worker().handle(BAKE, GracefulShutdownExample::bake).start();
            System.out.println("late worker: " + run.await(Duration.ofSeconds(30)));
        }
    }
}
