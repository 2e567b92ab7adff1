package dev.steadwork.examples;

import dev.steadwork.ChildOptions;
import dev.steadwork.Promise;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An order packs its parcels as runs of their own and waits for them without a slot; a survey goes on without it. */
public final class ChildrenExample {
    record Order(String id, List<String> parcels) {}

    static final Workflow<Order, String> SHIP = Workflow.define("ship", Order.class, String.class);
    static final Workflow<String, String> PACK = Workflow.define("pack", String.class, String.class);
    static final Workflow<String, String> SURVEY = Workflow.define("survey", String.class, String.class);

    private static final ChildOptions AFTERWARDS =
            ChildOptions.defaults().detached().delay(Duration.ofSeconds(1));

    private ChildrenExample() {}

    static String ship(WorkflowContext ctx, Order order) {
        var packing = new ArrayList<Promise<String>>();
        for (var parcel : order.parcels()) {
            packing.add(ctx.child(PACK, parcel));
        }
        var packed = ctx.all(packing);
        ctx.child(SURVEY, order.id(), AFTERWARDS);
        return order.id() + ": " + String.join(", ", packed);
    }

    static String pack(WorkflowContext ctx, String parcel) {
        return ctx.step("pack", String.class, step -> parcel + " packed");
    }

    static String survey(WorkflowContext ctx, String order) {
        return ctx.step("ask", String.class, step -> "asked how they liked " + order);
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork
                    .worker()
                    .handle(SHIP, ChildrenExample::ship)
                    .handle(PACK, ChildrenExample::pack)
                    .handle(SURVEY, ChildrenExample::survey)
                    .concurrency(1)
                    .start();

            var run = steadwork.workflow(SHIP).trigger(new Order("order-1", List.of("books", "records", "lamp")));
            System.out.println(run.await(Duration.ofSeconds(30)));

            var survey = run.steps().get(3);
            System.out.println("step " + survey.name() + " is " + survey.status());
            if (survey.childRun() != null) {
                System.out.println(steadwork.run(survey.childRun(), SURVEY).await(Duration.ofSeconds(30)));
            }
        }
    }
}
