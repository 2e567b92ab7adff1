package dev.steadwork.examples;

import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

/** Money moves between two accounts in the transaction that keeps the step: exactly once, or not at all. */
public final class TransactionExample {
    record Transfer(String from, String to, int cents) {}

    static final Workflow<Transfer, Integer> TRANSFER = Workflow.define("transfer", Transfer.class, Integer.class);

    private TransactionExample() {}

    static Integer transfer(WorkflowContext ctx, Transfer transfer) {
        return ctx.transaction("move", Integer.class, sql -> {
            add(sql, transfer.to(), transfer.cents());
            int left = add(sql, transfer.from(), -transfer.cents());
            if (left < 0) {
                throw new PermanentFailure(transfer.from() + " has not enough"); // takes back both updates
            }
            return left;
        });
    }

    private static int add(Connection sql, String account, int cents) throws SQLException {
        var update = "UPDATE example_account SET cents = cents + ? WHERE name = ? RETURNING cents";
        try (var statement = sql.prepareStatement(update)) {
            statement.setInt(1, cents);
            statement.setString(2, account);
            try (var rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt("cents");
            }
        }
    }

    public static void main(String[] args) throws IOException, SQLException {
        var url = ExampleDatabase.url(args);
        try (var steadwork = Steadwork.open(url);
                var connection = DriverManager.getConnection(url)) {
            createAccounts(connection);
            steadwork.worker().handle(TRANSFER, TransactionExample::transfer).start();

            var transfers = steadwork.workflow(TRANSFER);
            var left = transfers.trigger(new Transfer("Ada", "Grace", 30_00)).await(Duration.ofSeconds(30));
            System.out.println("Ada has " + left + " left");
            try {
                transfers.trigger(new Transfer("Ada", "Grace", 99_00)).await(Duration.ofSeconds(30));
            } catch (RunFailedException failed) {
                System.out.println("failed: " + failed.error().message());
            }
            printAccounts(connection);
        }
    }

    private static void createAccounts(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS example_account (name TEXT PRIMARY KEY, cents INTEGER NOT NULL)");
            statement.execute("DELETE FROM example_account");
            statement.execute("INSERT INTO example_account (name, cents) VALUES ('Ada', 10000), ('Grace', 0)");
        }
    }

    private static void printAccounts(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT name, cents FROM example_account ORDER BY name")) {
            while (rows.next()) {
                System.out.printf("%s: %d%n", rows.getString("name"), rows.getInt("cents"));
            }
        }
    }
}
