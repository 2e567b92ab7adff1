package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Trigger;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The urgent run goes first, the delayed one waits for its time, however early it was asked for. */
public final class DelayedAndPriorityExample {
    static final Workflow<String, String> DELIVER = Workflow.define("deliver", String.class, String.class);

    private DelayedAndPriorityExample() {}

    static String deliver(WorkflowContext ctx, String parcel) {
        ctx.run("hand over", () -> System.out.println("delivered: " + parcel));
        return parcel;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.register(DELIVER);
            var runs = steadwork
                    .workflow(DELIVER)
                    .triggerAll(List.of(
                            Trigger.of("delayed").delay(Duration.ofSeconds(1)).priority(100),
                            Trigger.of("ordinary"),
                            Trigger.of("urgent").priority(10)));

            steadwork
                    .worker()
                    .handle(DELIVER, DelayedAndPriorityExample::deliver)
                    .concurrency(1)
                    .start();
            runs.forEach(run -> run.await(Duration.ofSeconds(30)));
        }
    }
}
