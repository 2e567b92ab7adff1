package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.ErrorCode.PAYLOAD_TOO_LARGE;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunHandle;
import dev.steadwork.Trigger;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowTrigger;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CallerTransactionTest extends EngineTest {
    private static final Workflow<String, String> SHIP = Workflow.define("ship", String.class, String.class);
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);

    private Connection connection;

    @BeforeEach
    void beginTransaction() throws SQLException {
        steadwork.register(SHIP, PAY);
        connection = DriverManager.getConnection(url);
        execute("CREATE TABLE orders (id TEXT PRIMARY KEY)");
        connection.setAutoCommit(false);
    }

    @AfterEach
    void closeConnection() throws SQLException {
        connection.close();
    }

    @Test
    @Proves("TRIG-7")
    void the_run_exists_once_the_callers_transaction_commits() throws SQLException {
        execute("INSERT INTO orders VALUES ('o-1')");
        var run = ship().trigger("o-1");
        assertThat(steadwork.runs().count()).isZero();

        connection.commit();

        assertThat(steadwork.runs().count()).isEqualTo(1);
        assertThat(orders()).isEqualTo(1);
        work(SHIP, (ctx, order) -> "shipped " + order);
        assertThat(run.await(PATIENCE)).isEqualTo("shipped o-1");
    }

    @Test
    @Proves("TRIG-7")
    void the_run_never_existed_if_the_callers_transaction_rolls_back() throws SQLException {
        execute("INSERT INTO orders VALUES ('o-1')");
        var run = ship().idempotencyKey("o-1").trigger("o-1");

        connection.rollback();

        assertThat(steadwork.runs().withDeleted().count()).isZero();
        assertThat(orders()).isZero();
        assertRefused(NOT_FOUND, run::info, run.id().toString());
        assertThat(steadwork.workflow(SHIP).idempotencyKey("o-1").trigger("o-1").alreadyExisted())
                .isFalse();
    }

    @Test
    @Proves("TRIG-7")
    void a_trigger_neither_commits_nor_changes_the_callers_connection() throws SQLException {
        ship().trigger("o-1");
        ship().triggerAll(List.of("o-2", "o-3"));

        assertThat(connection.getAutoCommit()).isFalse();
        assertThat(connection.isClosed()).isFalse();
        connection.rollback();
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-7")
    void a_running_worker_executes_the_run_after_the_commit() throws SQLException {
        work(SHIP, (ctx, order) -> "shipped " + order);

        var run = ship().trigger("o-1");
        connection.commit();

        assertThat(run.await(PATIENCE)).isEqualTo("shipped o-1");
    }

    @Test
    @Proves({"TRIG-7", "TRIG-4"})
    void a_trigger_refused_for_its_type_leaves_the_transaction_usable() throws SQLException {
        execute("INSERT INTO orders VALUES ('o-1')");

        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow("unknown").in(connection).trigger("o-1"),
                "not registered");

        execute("INSERT INTO orders VALUES ('o-2')");
        ship().trigger("o-2");
        connection.commit();
        assertThat(orders()).isEqualTo(2);
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"TRIG-7", "TRIG-3"})
    void a_trigger_refused_for_its_key_leaves_the_transaction_usable() throws SQLException {
        var holder = steadwork.workflow(PAY).idempotencyKey("o-1").trigger("o-1");
        execute("INSERT INTO orders VALUES ('o-1')");

        assertRefused(
                CONFLICT,
                () -> ship().idempotencyKey("o-1").trigger("o-1"),
                holder.id().toString());

        execute("INSERT INTO orders VALUES ('o-2')");
        connection.commit();
        assertThat(orders()).isEqualTo(2);
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"TRIG-7", "DATA-2"})
    void a_trigger_refused_for_its_size_leaves_the_transaction_usable() throws SQLException {
        var small = open(settings -> settings.payloadLimits(10, 20));
        execute("INSERT INTO orders VALUES ('o-1')");

        assertRefused(
                PAYLOAD_TOO_LARGE, () -> small.workflow(SHIP).in(connection).trigger("o".repeat(30)));

        connection.commit();
        assertThat(orders()).isEqualTo(1);
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves({"TRIG-7", "TRIG-6"})
    void a_refused_batch_leaves_nothing_of_itself_in_the_transaction() throws SQLException {
        execute("INSERT INTO orders VALUES ('o-1')");

        assertRefused(
                PRECONDITION_FAILED,
                () -> ship().triggerAll(List.of(
                        Trigger.of("o-1"), Trigger.of("o-2").check(TriggerCheck.REQUIRE_ONLINE), Trigger.of("o-3"))),
                "Item 1");

        connection.commit();
        assertThat(orders()).isEqualTo(1);
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves({"TRIG-7", "TRIG-2"})
    void a_taken_key_returns_the_existing_run() throws SQLException {
        var existing = steadwork.workflow(SHIP).idempotencyKey("o-1").trigger("o-1");

        var run = ship().idempotencyKey("o-1").trigger("o-1");
        connection.commit();

        assertThat(run.alreadyExisted()).isTrue();
        assertThat(run.id()).isEqualTo(existing.id());
    }

    @Test
    @Proves({"TRIG-7", "TRIG-2"})
    void the_same_key_twice_in_one_transaction_is_one_run() throws SQLException {
        var first = ship().idempotencyKey("o-1").trigger("o-1");
        var second = ship().idempotencyKey("o-1").trigger("o-1");
        connection.commit();

        assertThat(second.alreadyExisted()).isTrue();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"TRIG-7", "TRIG-3"})
    void a_key_in_an_open_transaction_is_decided_by_its_end() throws SQLException {
        for (int race = 0; race < 10; race++) {
            var key = "o-" + race;
            boolean commits = race % 2 == 0;
            var inTransaction = ship().idempotencyKey(key).trigger("first");

            var other = CompletableFuture.supplyAsync(
                    () -> steadwork.workflow(SHIP).idempotencyKey(key).trigger("second"));
            if (commits) {
                connection.commit();
            } else {
                connection.rollback();
            }

            assertThat(other.join().alreadyExisted()).isEqualTo(commits);
            assertThat(other.join().id().equals(inTransaction.id())).isEqualTo(commits);
        }
        assertThat(steadwork.runs().count()).isEqualTo(10);
    }

    @Test
    @Proves("TRIG-7")
    void a_connection_that_commits_by_itself_is_refused() throws SQLException {
        connection.setAutoCommit(true);

        assertRefused(INVALID_ARGUMENT, () -> ship().trigger("o-1"), "auto-commit");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-7")
    void a_batch_commits_with_the_transaction() throws SQLException {
        var runs = ship().triggerAll(List.of("o-1", "o-2", "o-3"));
        connection.commit();

        assertThat(steadwork.runs().count()).isEqualTo(3);
        assertThat(runs).extracting(RunHandle::alreadyExisted).containsOnly(false);
    }

    private WorkflowTrigger<String, String> ship() {
        return steadwork.workflow(SHIP).in(connection);
    }

    private void execute(String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int orders() throws SQLException {
        try (var other = DriverManager.getConnection(url);
                var statement = other.createStatement();
                var rows = statement.executeQuery("SELECT count(*) FROM orders")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
