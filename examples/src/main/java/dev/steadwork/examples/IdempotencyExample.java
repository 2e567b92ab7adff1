package dev.steadwork.examples;

import dev.steadwork.KeyPolicy;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** A key makes a trigger safe to repeat: forever by default, or only while its run is active. */
public final class IdempotencyExample {
    static final Workflow<String, String> INVOICE = Workflow.define("invoice", String.class, String.class);

    private IdempotencyExample() {}

    static String invoice(WorkflowContext ctx, String customer) {
        return ctx.step("write", String.class, step -> "invoice for " + customer);
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(INVOICE, IdempotencyExample::invoice).start();

            var may = steadwork.workflow(INVOICE).idempotencyKey("invoice-42-may");
            var first = may.trigger("customer 42");
            var second = may.trigger("customer 42");
            System.out.println("same run: " + first.id().equals(second.id()));
            System.out.println("second trigger found it: " + second.alreadyExisted());

            var refresh =
                    steadwork.workflow(INVOICE).idempotencyKey("refresh-42").keyPolicy(KeyPolicy.WHILE_ACTIVE);
            var earlier = refresh.trigger("customer 42");
            earlier.await(Duration.ofSeconds(30));
            var later = refresh.trigger("customer 42");
            System.out.println("new run after the first has ended: " + !later.alreadyExisted());
            later.await(Duration.ofSeconds(30));
        }
    }
}
