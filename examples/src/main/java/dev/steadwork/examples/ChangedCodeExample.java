package dev.steadwork.examples;

import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** A check is added while a run sleeps: that run keeps to the path it began, new ones take the new path. */
public final class ChangedCodeExample {
    static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private ChangedCodeExample() {}

    /** As it was last week. */
    static String orderBefore(WorkflowContext ctx, String order) {
        ctx.run("charge", () -> System.out.println(order + " charged"));
        ctx.sleep("cooling-off", Duration.ofSeconds(2));
        return ctx.step("ship", String.class, step -> order + " shipped");
    }

    /** As it is now. Without the version the sleeping run would fail: its first step was not the check. */
    static String order(WorkflowContext ctx, String order) {
        if (ctx.version("fraud-check", 0, 1) >= 1) {
            ctx.run("fraud-check", () -> System.out.println(order + " checked"));
        }
        ctx.run("charge", () -> System.out.println(order + " charged"));
        ctx.sleep("cooling-off", Duration.ofSeconds(2));
        return ctx.step("ship", String.class, step -> order + " shipped");
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            var lastWeek = steadwork
                    .worker()
                    .handle(ORDER, ChangedCodeExample::orderBefore)
                    .start();
            var early = steadwork.workflow(ORDER).trigger("order-1");
            awaitSleeping(early);
            lastWeek.close();

            steadwork.worker().handle(ORDER, ChangedCodeExample::order).start();
            var late = steadwork.workflow(ORDER).trigger("order-2");
            System.out.println(early.await(Duration.ofSeconds(30)));
            System.out.println(late.await(Duration.ofSeconds(30)));
        }
    }

    private static void awaitSleeping(RunHandle<?> run) throws InterruptedException {
        while (run.status() != RunStatus.SLEEPING) {
            Thread.sleep(50);
        }
    }
}
