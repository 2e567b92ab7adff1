package dev.steadwork.examples.demo;

import dev.steadwork.RetryPolicy;
import dev.steadwork.Steadwork;
import dev.steadwork.StepContext;
import dev.steadwork.StepOptions;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The workflow of the demo: reserves, charges, waits out a short cooling-off period, ships and notifies. */
final class Orders {
    static final Workflow<Order, Receipt> FULFIL = Workflow.define("fulfil", Order.class, Receipt.class);
    static final List<String> STEPS = List.of("reserve", "charge", "cooling-off", "ship", "notify");
    static final Duration LEASE = Duration.ofSeconds(3);

    private static final StepOptions PATIENT =
            StepOptions.defaults().retry(RetryPolicy.defaults().withInitialInterval(Duration.ofMillis(600)));

    private final AttemptLog log;

    /** @param cardFailsOnce whether the first attempt to charge the card fails */
    record Order(String id, boolean cardFailsOnce) {
        static Order number(long number) {
            return new Order("order-" + number, number % 3 == 1);
        }
    }

    record Receipt(String order, String payment, String parcel) {}

    Orders(AttemptLog log) {
        this.log = log;
    }

    /** Opens the demo's database with a lease so short that the take-over after a crash can be watched. */
    static Steadwork open(Path database) {
        return Steadwork.builder()
                .url("jdbc:sqlite:" + database)
                .lease(LEASE)
                .heartbeat(LEASE.dividedBy(3))
                .pollInterval(Duration.ofMillis(200))
                .poolSize(4)
                .open();
    }

    Receipt fulfil(WorkflowContext ctx, Order order) {
        ctx.step("reserve", String.class, step -> work(ctx, "reserve", step, 400));

        var payment = ctx.step("charge", String.class, PATIENT, step -> charge(ctx, order, step));

        ctx.sleep("cooling-off", Duration.ofSeconds(2));

        var parcel = ctx.step("ship", String.class, step -> work(ctx, "ship", step, 1000));

        ctx.step("notify", String.class, step -> work(ctx, "notify", step, 300));

        return new Receipt(order.id(), payment, parcel);
    }

    private String charge(WorkflowContext ctx, Order order, StepContext step) throws InterruptedException {
        if (order.cardFailsOnce() && step.attempt() == 1) {
            var attempt = log.started(ctx.runId(), "charge", step.attempt());
            Thread.sleep(300);
            log.failed(attempt);
            throw new IllegalStateException("the card terminal is busy");
        }
        return work(ctx, "charge", step, 500);
    }

    /**
     * Stands for a call to the world outside that takes its time. Returns who made it, so that the result which is kept
     * tells from which execution it is.
     */
    private String work(WorkflowContext ctx, String name, StepContext step, long millis) throws InterruptedException {
        var attempt = log.started(ctx.runId(), name, step.attempt());
        Thread.sleep(millis);
        log.done(attempt);
        return attempt.executor();
    }
}
