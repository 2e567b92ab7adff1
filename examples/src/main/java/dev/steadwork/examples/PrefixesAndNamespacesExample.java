package dev.steadwork.examples;

import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** One worker takes all that begins with {@code billing.}; runs of another namespace are out of its sight. One is disabled. */
public final class PrefixesAndNamespacesExample {
    static final Workflow<String, String> INVOICE = Workflow.define("billing.invoice", String.class, String.class);
    static final Workflow<String, String> REFUND = Workflow.define("billing.refund", String.class, String.class);

    private PrefixesAndNamespacesExample() {}

    static String invoice(WorkflowContext ctx, String customer) {
        return ctx.step("write", String.class, step -> "invoice for " + customer);
    }

    public static void main(String[] args) throws IOException {
        var url = ExampleDatabase.url(args);
        try (var north = Steadwork.builder().url(url).namespace("north").open();
                var south = Steadwork.builder().url(url).namespace("south").open()) {
            north.register(INVOICE, REFUND);
            south.register(INVOICE, REFUND);
            south.workflow(INVOICE).trigger("Grace");
            var invoice = north.workflow(INVOICE).trigger("Ada");
            var refund = north.workflow(REFUND).trigger("Ada");

            north.worker()
                    .typePrefix("billing.")
                    .handle(INVOICE, PrefixesAndNamespacesExample::invoice)
                    .start();
            System.out.println("north: " + invoice.await(Duration.ofSeconds(30)));
            try {
                refund.await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                System.out.println("north: refund failed with " + failed.error().type());
            }
            south.runs()
                    .page(10)
                    .items()
                    .forEach(run -> System.out.printf("south: %s is %s%n", run.type(), run.status()));

            north.namespaces().create("south", settings -> settings.keepCompleted(Duration.ofDays(30)));
            north.namespaces().disable("south");
            try {
                south.workflow(INVOICE).trigger("Alan");
            } catch (PreconditionFailed disabled) {
                System.out.println("south: " + disabled.getMessage());
            }
        }
    }
}
