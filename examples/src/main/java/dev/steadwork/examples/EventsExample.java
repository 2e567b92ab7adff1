package dev.steadwork.examples;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** What happened to a run is recorded, with who asked for it and why. */
public final class EventsExample {
    static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final AtomicBoolean BANK_IS_OPEN = new AtomicBoolean();

    private EventsExample() {}

    static String pay(WorkflowContext ctx, String customer) {
        ctx.run("reserve", () -> {});
        return ctx.step("charge", String.class, step -> {
            if (!BANK_IS_OPEN.get()) {
                throw new PermanentFailure("the bank is closed");
            }
            return "paid by " + customer;
        });
    }

    public static void main(String[] args) throws IOException {
        BANK_IS_OPEN.set(false);
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.namespaces().create("default", settings -> settings.audit(true));
            steadwork.worker().handle(PAY, EventsExample::pay).start();
            var run = steadwork.workflow(PAY).trigger("Ada");
            try {
                run.await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                BANK_IS_OPEN.set(true);
                run.by("alice", "the bank is open").retry();
            }
            System.out.println(run.await(Duration.ofSeconds(30)));
            run.events()
                    .forEach(event -> System.out.printf(
                            "%s%s%s%n",
                            event.kind().label(),
                            Optional.ofNullable(event.step())
                                    .map(step -> " " + step)
                                    .orElse(""),
                            Optional.ofNullable(event.actor())
                                    .map(actor -> " by " + actor + ": " + event.reason())
                                    .orElse("")));
        }
    }
}
