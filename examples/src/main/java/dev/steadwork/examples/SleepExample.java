package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Ten runs sleep at the same time on a worker with one slot: a durable sleep holds no worker. */
public final class SleepExample {
    static final Workflow<Integer, Integer> REMIND = Workflow.define("remind", Integer.class, Integer.class);

    private SleepExample() {}

    static Integer remind(WorkflowContext ctx, Integer number) {
        ctx.sleep("wait", Duration.ofSeconds(1));
        return ctx.step("remind", Integer.class, step -> number);
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork
                    .worker()
                    .handle(REMIND, SleepExample::remind)
                    .concurrency(1)
                    .start();

            long start = System.nanoTime();
            var runs = steadwork.workflow(REMIND).triggerAll(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
            runs.forEach(run -> run.await(Duration.ofSeconds(30)));

            var took = Duration.ofNanos(System.nanoTime() - start);
            System.out.printf(
                    "%d runs slept 1 s each, one slot, %.1f s in all%n", runs.size(), took.toMillis() / 1000.0);
        }
    }
}
