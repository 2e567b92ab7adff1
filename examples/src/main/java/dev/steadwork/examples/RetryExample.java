package dev.steadwork.examples;

import dev.steadwork.RetryPolicy;
import dev.steadwork.Steadwork;
import dev.steadwork.StepOptions;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** A step fails twice and then succeeds: the run completes, and the failed attempts are there to look at. */
public final class RetryExample {
    static final Workflow<String, String> QUOTE = Workflow.define("quote", String.class, String.class);

    private static final StepOptions STUBBORN = StepOptions.defaults()
            .retry(RetryPolicy.defaults().withMaxAttempts(3).withInitialInterval(Duration.ofMillis(100)))
            .timeout(Duration.ofSeconds(5));

    private RetryExample() {}

    static String quote(WorkflowContext ctx, String share) {
        return ctx.step("ask", String.class, STUBBORN, step -> {
            if (step.attempt() < 3) {
                throw new IOException("the exchange is busy");
            }
            return share + " costs 42";
        });
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(QUOTE, RetryExample::quote).start();

            var run = steadwork.workflow(QUOTE).trigger("ACME");
            System.out.println(run.await(Duration.ofSeconds(30)));

            var ask = run.steps().get(0);
            ask.failedAttempts()
                    .forEach(failed -> System.out.printf(
                            "attempt %d failed: %s%n",
                            failed.number(), failed.error().message()));
            System.out.printf("attempt %d succeeded%n", ask.attempt());
        }
    }
}
