package dev.steadwork.examples;

import dev.steadwork.Promise;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Three shops are asked at the same time; when all have answered, the cheapest offer is taken. */
public final class FanOutExample {
    record Offer(String shop, int cents) {}

    static final Workflow<String, Offer> BUY = Workflow.define("buy", String.class, Offer.class);

    private static final List<Offer> SHOPS =
            List.of(new Offer("north", 4200), new Offer("south", 3900), new Offer("east", 4500));
    private static final CyclicBarrier allAreAsked = new CyclicBarrier(SHOPS.size());

    private FanOutExample() {}

    static Offer buy(WorkflowContext ctx, String article) {
        var asked = new ArrayList<Promise<Offer>>();
        for (var shop : SHOPS) {
            asked.add(ctx.async("ask " + shop.shop(), Offer.class, step -> ask(shop)));
        }
        var offers = ctx.all(asked);
        var best = offers.stream().min(Comparator.comparing(Offer::cents)).orElseThrow();
        return ctx.step("order", Offer.class, step -> best);
    }

    /** Would wait forever if the shops were asked one after the other. */
    private static Offer ask(Offer shop) throws InterruptedException, BrokenBarrierException {
        allAreAsked.await();
        return shop;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(BUY, FanOutExample::buy).start();

            var run = steadwork.workflow(BUY).trigger("kettle");
            System.out.println("best: " + run.await(Duration.ofSeconds(30)));
            run.steps().forEach(step -> System.out.printf("step %d: %s%n", step.position(), step.name()));
        }
    }
}
