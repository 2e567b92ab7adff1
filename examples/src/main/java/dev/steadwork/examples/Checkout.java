package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.time.Duration;

/** The program of {@code docs/quickstart.md}: kill it wherever you like and start it again, it goes on where it was. */
public class Checkout {
    record Order(String id, int cents) {}

    record Receipt(String order, String payment, String parcel) {}

    static final Workflow<Order, Receipt> CHECKOUT = Workflow.define("checkout", Order.class, Receipt.class);

    static Receipt checkout(WorkflowContext ctx, Order order) {
        var payment = ctx.step("charge", String.class, step -> {
            System.out.println("charging " + order.id());
            return "p-42";
        });

        ctx.sleep("cooling-off", Duration.ofSeconds(10));

        var parcel = ctx.step("ship", String.class, step -> {
            System.out.println("shipping " + order.id());
            Thread.sleep(2_000);
            return "t-7";
        });

        return new Receipt(order.id(), payment, parcel);
    }

    public static void main(String[] args) {
        try (var steadwork = Steadwork.open(args[0])) {
            steadwork.worker().handle(CHECKOUT, Checkout::checkout).start();

            var order = new Order("order-1", 4200);
            var run = steadwork.workflow(CHECKOUT).idempotencyKey(order.id()).trigger(order);
            System.out.printf(
                    "%s run %s, process %d%n",
                    run.alreadyExisted() ? "going on with" : "started",
                    run.id(),
                    ProcessHandle.current().pid());

            System.out.println(run.await(Duration.ofMinutes(5)));
        }
    }
}
