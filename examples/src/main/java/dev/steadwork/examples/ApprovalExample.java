package dev.steadwork.examples;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;

/** A large expense waits for days until somebody decides; a small one is paid if nobody objects in time. */
public final class ApprovalExample {
    record Expense(String what, int cents) {}

    record Decision(String by, boolean approved) {}

    static final Workflow<Expense, String> EXPENSE = Workflow.define("expense", Expense.class, String.class);

    private ApprovalExample() {}

    static String expense(WorkflowContext ctx, Expense expense) {
        boolean isLarge = expense.cents() > 100_00;
        try {
            var patience = isLarge ? Duration.ofDays(5) : Duration.ofSeconds(1);
            var decision = ctx.awaitEvent("decision", Decision.class, patience);
            return decision.approved() ? "paid, says " + decision.by() : "refused by " + decision.by();
        } catch (AwaitTimeoutException nobody) {
            return isLarge ? "refused: nobody decided" : "paid: nobody objected";
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(EXPENSE, ApprovalExample::expense).start();
            var tickets = steadwork.workflow(EXPENSE).trigger(new Expense("tickets", 480_00));
            var yacht = steadwork.workflow(EXPENSE).trigger(new Expense("yacht", 900_000_00));
            var coffee = steadwork.workflow(EXPENSE).trigger(new Expense("coffee", 4_20));

            // In a real system another process does this: all it needs is the run's id.
            steadwork.run(tickets.id()).signal("decision", new Decision("Ada", true));
            steadwork.run(yacht.id()).signal("decision", new Decision("Ada", false));

            System.out.println("tickets: " + tickets.await(Duration.ofSeconds(30)));
            System.out.println("yacht: " + yacht.await(Duration.ofSeconds(30)));
            System.out.println("coffee: " + coffee.await(Duration.ofSeconds(30)));
        }
    }
}
