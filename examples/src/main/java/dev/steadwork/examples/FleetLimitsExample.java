package dev.steadwork.examples;

import dev.steadwork.QueueLimit;
import dev.steadwork.Steadwork;
import dev.steadwork.Trigger;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Two workers share what a queue allows: four exports at once, one per customer, who take turns. */
public final class FleetLimitsExample {
    static final Workflow<String, String> EXPORT = Workflow.define("export", String.class, String.class);
    private static final AtomicInteger exporting = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();

    private FleetLimitsExample() {}

    static String export(WorkflowContext ctx, String customer) {
        ctx.run("write file", () -> {
            most.accumulateAndGet(exporting.incrementAndGet(), Math::max);
            TimeUnit.MILLISECONDS.sleep(50);
            exporting.decrementAndGet();
        });
        return customer;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.register(EXPORT);
            steadwork.queues().limit("export", QueueLimit.concurrency(4).perKey(1));
            var big = steadwork.workflow(EXPORT).triggerAll(Collections.nCopies(20, of("big")));
            var small = steadwork.workflow(EXPORT).triggerAll(List.of(of("small")));

            for (var name : List.of("one", "two")) {
                steadwork
                        .worker()
                        .name(name)
                        .handle(EXPORT, FleetLimitsExample::export)
                        .start();
            }
            small.forEach(run -> run.await(Duration.ofSeconds(30)));
            long done = big.stream().filter(run -> run.status().isTerminal()).count();
            System.out.println("small customer served before the big one's backlog: " + (done < big.size()));

            big.forEach(run -> run.await(Duration.ofSeconds(30)));
            System.out.println("at once, at most: " + most.get());
        }
    }

    private static Trigger<String> of(String customer) {
        return Trigger.of(customer).concurrencyKey(customer);
    }
}
