package dev.steadwork.examples;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.StepFailedException;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** A step that failed for good is caught and has a second way; one that nobody catches fails the run, until it is retried. */
public final class ErrorHandlingExample {
    static final Workflow<String, String> NOTIFY = Workflow.define("notify", String.class, String.class);
    private static final AtomicBoolean printerIsOff = new AtomicBoolean(true);

    private ErrorHandlingExample() {}

    static String notify(WorkflowContext ctx, String customer) {
        try {
            return ctx.step("mail", String.class, step -> {
                System.out.println("mailing " + customer);
                throw new PermanentFailure("no such address");
            });
        } catch (StepFailedException failed) {
            return ctx.step("letter", String.class, step -> print(customer));
        }
    }

    private static String print(String customer) {
        if (printerIsOff.get()) {
            throw new PermanentFailure("the printer is off");
        }
        return "letter to " + customer;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(NOTIFY, ErrorHandlingExample::notify).start();
            var run = steadwork.workflow(NOTIFY).trigger("Ada");
            try {
                run.await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                System.out.println(failed.error().line());
            }

            printerIsOff.set(false);
            run.retry();
            System.out.println(run.await(Duration.ofSeconds(30)));
        }
    }
}
