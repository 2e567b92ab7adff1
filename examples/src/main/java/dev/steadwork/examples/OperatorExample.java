package dev.steadwork.examples;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The bank was down: all payments that failed are retried at once, and one is forked with the right account. */
public final class OperatorExample {
    /** What to pay, and where to. */
    public record Payment(int euros, String account) {}

    static final Workflow<Payment, String> PAY = Workflow.define("pay", Payment.class, String.class);
    private static volatile boolean bankIsUp;

    private OperatorExample() {}

    static String pay(WorkflowContext ctx, Payment payment) {
        var approval = ctx.step("approve", String.class, step -> {
            System.out.println("approving " + payment.euros());
            return "approved";
        });
        return ctx.step("transfer", String.class, step -> {
            if (!bankIsUp) {
                throw new PermanentFailure("the bank is closed");
            }
            return "%s, %d to %s".formatted(approval, payment.euros(), payment.account());
        });
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(PAY, OperatorExample::pay).start();
            var runs = steadwork
                    .workflow(PAY)
                    .triggerAll(List.of(new Payment(10, "Ada"), new Payment(20, "Bob"), new Payment(30, "Eve")));
            runs.forEach(OperatorExample::awaitFailure);

            bankIsUp = true;
            var failed = steadwork.runs().type("pay").status(RunStatus.FAILED).errorContains("bank is closed");
            System.out.printf("%d failed, %d retried%n", failed.count(), failed.retryAll());
            runs.forEach(run -> System.out.println(run.await(Duration.ofSeconds(30))));

            var again = runs.get(2).fork("transfer", new Payment(30, "Eva"));
            System.out.println(again.await(Duration.ofSeconds(30)));
            System.out.printf("%d deleted%n", steadwork.runs().type("pay").deleteAll("end of the example"));
        }
    }

    private static void awaitFailure(RunHandle<String> run) {
        try {
            run.await(Duration.ofSeconds(30));
        } catch (RunFailedException failed) {
            System.out.println("failed: " + failed.error().message());
        }
    }
}
