package dev.steadwork.examples;

import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.Trigger;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** People who wait have a queue and a worker of their own; the nightly queue goes by priority and never gets in their way. */
public final class MultiQueueExample {
    static final Workflow<String, String> RENDER =
            Workflow.define("render", String.class, String.class).onQueue("nightly");

    private MultiQueueExample() {}

    static String render(WorkflowContext ctx, String page) {
        ctx.run("render", () -> System.out.println("rendered: " + page));
        return page;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.register(RENDER);
            var nightly = steadwork
                    .workflow(RENDER)
                    .triggerAll(List.of(
                            Trigger.of("archive").priority(-10),
                            Trigger.of("catalogue"),
                            Trigger.of("front page").priority(10)));

            steadwork
                    .worker()
                    .queue("interactive")
                    .handle(RENDER, MultiQueueExample::render)
                    .start();
            var preview = steadwork.workflow(RENDER).queue("interactive").trigger("preview");
            preview.await(Duration.ofSeconds(30));
            System.out.printf(
                    "waiting in nightly: %d%n",
                    steadwork.runs().queue("nightly").status(RunStatus.PENDING).count());

            steadwork
                    .worker()
                    .queue("nightly")
                    .handle(RENDER, MultiQueueExample::render)
                    .concurrency(1)
                    .start();
            nightly.forEach(run -> run.await(Duration.ofSeconds(30)));
        }
    }
}
