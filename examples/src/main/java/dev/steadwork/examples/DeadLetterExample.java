package dev.steadwork.examples;

import dev.steadwork.DeadLetter;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A run that fails starts another workflow with what is known of it, in the transaction that fails it. */
public final class DeadLetterExample {
    static final Workflow<DeadLetter, Void> REVIEW = Workflow.define("review", DeadLetter.class, Void.class);
    static final Workflow<String, Void> IMPORT =
            Workflow.define("import", String.class, Void.class).deadLetter(REVIEW);
    private static final CountDownLatch reviewed = new CountDownLatch(1);

    private DeadLetterExample() {}

    static Void importFile(WorkflowContext ctx, String file) {
        return ctx.step("parse", Void.class, step -> {
            throw new PermanentFailure(file + " is not a table");
        });
    }

    static Void review(WorkflowContext ctx, DeadLetter letter) {
        ctx.run(
                "look",
                () -> System.out.printf(
                        "to review: %s with input %s, %s%n",
                        letter.workflow(), letter.input(), letter.error().message()));
        reviewed.countDown();
        return null;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork
                    .worker()
                    .handle(IMPORT, DeadLetterExample::importFile)
                    .handle(REVIEW, DeadLetterExample::review)
                    .start();
            try {
                steadwork.workflow(IMPORT).trigger("cats.jpg").await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                System.out.println("failed: " + failed.error().line());
            }
            reviewed.await(30, TimeUnit.SECONDS);
        }
    }
}
