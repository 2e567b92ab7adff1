package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Script;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A transactional step whose process is killed at the worst moment. What comes after the commit: see CrashAtEveryCheckpointTest. */
class TransactionCrashTest extends FaultTest {
    private static final Duration LEASE = Duration.ofSeconds(1);

    @BeforeEach
    void createAccount() throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (balance INTEGER NOT NULL)");
            statement.execute("INSERT INTO account (balance) VALUES (100)");
        }
    }

    @Test
    @Proves("STEP-11")
    void a_process_killed_between_the_sql_and_the_commit_has_done_nothing() throws SQLException {
        var killed = startProcess(LEASE);
        var run = play("debit once", "step after");
        killed.report().awaitLine("started once " + run.id());
        assertThat(balance()).isEqualTo(100);
        killed.kill();

        var script = new Script(line -> {});
        script.go();
        work(SCRIPT, script);

        run.await(PATIENCE);
        assertThat(balance()).isEqualTo(99);
        assertThat(run.info().lease().lost()).isEqualTo(1);
    }

    private int balance() throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT balance FROM account")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
