package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

/** A row of the application and a run in one transaction: both are there, or neither. */
public final class CallerTransactionExample {
    static final Workflow<String, String> WELCOME = Workflow.define("welcome", String.class, String.class);

    private CallerTransactionExample() {}

    static String welcome(WorkflowContext ctx, String customer) {
        return ctx.step("mail", String.class, step -> "welcome mail to " + customer);
    }

    public static void main(String[] args) throws IOException, SQLException {
        var url = ExampleDatabase.url(args);
        try (var steadwork = Steadwork.open(url);
                var connection = DriverManager.getConnection(url)) {
            steadwork.register(WELCOME);
            connection.setAutoCommit(false);
            execute(connection, "CREATE TABLE IF NOT EXISTS customer (name TEXT)");
            connection.commit();

            execute(connection, "INSERT INTO customer VALUES ('Grace')");
            steadwork.workflow(WELCOME).in(connection).trigger("Grace");
            connection.rollback();
            System.out.println("after the rollback: " + steadwork.runs().count() + " runs");

            execute(connection, "INSERT INTO customer VALUES ('Ada')");
            var run = steadwork.workflow(WELCOME).in(connection).trigger("Ada");
            connection.commit();
            System.out.println("after the commit: " + steadwork.runs().count() + " run");

            steadwork
                    .worker()
                    .handle(WELCOME, CallerTransactionExample::welcome)
                    .start();
            System.out.println(run.await(Duration.ofSeconds(30)));
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
