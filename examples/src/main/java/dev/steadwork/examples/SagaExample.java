package dev.steadwork.examples;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** The car of a trip cannot be had: the hotel and the flight are given back, the last one first. */
public final class SagaExample {
    static final Workflow<String, Void> TRIP = Workflow.define("trip", String.class, Void.class);

    private SagaExample() {}

    static Void trip(WorkflowContext ctx, String city) {
        ctx.compensateWith("cancel flight", () -> System.out.println("flight cancelled"));
        ctx.run("book flight", () -> System.out.println("flight booked to " + city));

        ctx.compensateWith("cancel hotel", () -> System.out.println("hotel cancelled"));
        ctx.run("book hotel", () -> System.out.println("hotel booked in " + city));

        ctx.run("book car", () -> {
            throw new PermanentFailure("no cars in " + city);
        });
        return null;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(TRIP, SagaExample::trip).start();
            try {
                steadwork.workflow(TRIP).trigger("Venice").await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                System.out.println("failed: " + failed.error().message());
            }
        }
    }
}
