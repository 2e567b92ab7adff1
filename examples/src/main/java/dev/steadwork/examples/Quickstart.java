package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.time.Duration;

/** The program of the README: two steps with a durable sleep between them, in the file {@code app.db}. */
public class Quickstart {
    static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);

    static String greet(WorkflowContext ctx, String name) {
        var greeting = ctx.step("compose", String.class, step -> "Hello, " + name + "!");
        ctx.sleep("pause", Duration.ofSeconds(1));
        ctx.run("send", () -> System.out.println(greeting));
        return greeting;
    }

    public static void main(String[] args) {
        try (var steadwork = Steadwork.open(args.length > 0 ? args[0] : "jdbc:sqlite:app.db")) {
            steadwork.worker().handle(GREET, Quickstart::greet).start();
            steadwork.workflow(GREET).trigger("Ada").await(Duration.ofMinutes(1));
        }
    }
}
