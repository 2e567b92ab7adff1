package dev.steadwork.examples;

import dev.steadwork.RunCancelledException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A sleeping run is cancelled at once; a running one hears of it while its step is executing. */
public final class CancelExample {
    static final Workflow<String, Void> WATCH = Workflow.define("watch", String.class, Void.class);
    private static final CountDownLatch watching = new CountDownLatch(1);

    private CancelExample() {}

    static Void watch(WorkflowContext ctx, String what) {
        if (what.equals("the clock")) {
            ctx.sleep("until tomorrow", Duration.ofHours(24));
        }
        return ctx.step("watch", Void.class, step -> {
            watching.countDown();
            Thread.sleep(Duration.ofHours(24).toMillis());
            return null;
        });
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(WATCH, CancelExample::watch).start();
            var sleeping = steadwork.workflow(WATCH).trigger("the clock");
            var running = steadwork.workflow(WATCH).trigger("the door");
            watching.await();

            cancel("sleeping run", sleeping);
            cancel("running run", running);
        }
    }

    private static void cancel(String name, RunHandle<Void> run) {
        run.cancel();
        try {
            run.await(Duration.ofSeconds(30));
        } catch (RunCancelledException ended) {
            System.out.printf("%s: %s%n", name, RunStatus.CANCELLED);
        }
    }
}
