package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.PermanentFailure;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Store;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The application's SQL and the checkpoint in one transaction: STEP-11. */
class TransactionTest extends EngineTest {
    private static final Workflow<Integer, Integer> DEBIT = Workflow.define("debit", Integer.class, Integer.class);
    private static final Workflow<String, String> LETTER = Workflow.define("letter", String.class, String.class);

    @BeforeEach
    void createAccount() throws SQLException {
        try (var connection = connect()) {
            execute(
                    connection,
                    "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0))");
            execute(connection, "INSERT INTO account (id, balance) VALUES (1, 100)");
        }
    }

    @Test
    @Proves("STEP-11")
    void the_applications_sql_and_the_result_are_kept_together_once() {
        var executions = new AtomicInteger();
        work(DEBIT, (ctx, amount) -> {
            int balance = ctx.transaction("debit", Integer.class, sql -> {
                executions.incrementAndGet();
                return debit(sql, amount);
            });
            ctx.sleep("replay", Duration.ofMillis(1));
            return balance;
        });

        var run = steadwork.workflow(DEBIT).trigger(30);

        assertThat(run.await(PATIENCE)).isEqualTo(70);
        assertThat(balance()).isEqualTo(70);
        assertThat(executions).hasValue(1);
        assertThat(Runs.step(run, "debit").kind()).isEqualTo(StepKind.TRANSACTION);
    }

    @Test
    @Proves("STEP-11")
    void a_failure_rolls_back_and_is_tried_again() {
        var executions = new AtomicInteger();
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", TypeRef.of(Integer.class), attempts(3), sql -> {
                    int balance = debit(sql, amount);
                    if (executions.incrementAndGet() < 3) {
                        throw new IllegalStateException("after the update");
                    }
                    return balance;
                }));

        var run = steadwork.workflow(DEBIT).trigger(30);

        assertThat(run.await(PATIENCE)).isEqualTo(70);
        assertThat(balance()).isEqualTo(70);
        assertThat(Runs.step(run, "debit").failedAttempts()).hasSize(2);
    }

    @Test
    @Proves("STEP-11")
    void a_violated_constraint_fails_the_step_and_changes_nothing() {
        work(
                DEBIT,
                (ctx, amount) ->
                        ctx.transaction("debit", TypeRef.of(Integer.class), attempts(1), sql -> debit(sql, amount)));

        var error = failureOf(steadwork.workflow(DEBIT).trigger(1000));

        assertThat(error.step()).isEqualTo("debit");
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    @Proves("STEP-11")
    void a_permanent_failure_is_not_tried_again() {
        var executions = new AtomicInteger();
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", Integer.class, sql -> {
                    executions.incrementAndGet();
                    throw new PermanentFailure("no");
                }));

        assertThat(failureOf(steadwork.workflow(DEBIT).trigger(1)).message()).contains("no");
        assertThat(executions).hasValue(1);
    }

    @Test
    @Proves("STEP-11")
    void a_worker_that_lost_its_lease_meanwhile_commits_nothing() {
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", Integer.class, sql -> {
                    int balance = debit(sql, amount);
                    if (ctx.fencingToken() == 1) {
                        execute(sql, raiseEpoch());
                    }
                    return balance;
                }));

        var run = steadwork.workflow(DEBIT).trigger(30);

        assertThat(run.await(PATIENCE)).isEqualTo(70);
        assertThat(balance()).isEqualTo(70);
        assertThat(run.info().lease().epoch()).isGreaterThan(1);
    }

    @Test
    @Proves({"STEP-11", "TRIG-7"})
    void a_run_triggered_in_the_transaction_exists_only_if_it_commits() {
        steadwork.register(LETTER);
        var executions = new AtomicInteger();
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", TypeRef.of(Integer.class), attempts(2), sql -> {
                    steadwork.workflow(LETTER).in(sql).trigger("letter");
                    if (executions.incrementAndGet() == 1) {
                        throw new IllegalStateException("after the trigger");
                    }
                    return debit(sql, amount);
                }));

        assertThat(steadwork.workflow(DEBIT).trigger(30).await(PATIENCE)).isEqualTo(70);
        assertThat(steadwork.runs().type("letter").count()).isEqualTo(1);
    }

    @Test
    @Proves("STEP-11")
    void the_transaction_cannot_be_ended_by_the_application() {
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", Integer.class, sql -> {
                    assertThatThrownBy(sql::commit)
                            .isInstanceOf(InvalidState.class)
                            .hasMessageContaining("commit()");
                    assertThatThrownBy(sql::rollback).isInstanceOf(InvalidState.class);
                    assertThatThrownBy(sql::close).isInstanceOf(InvalidState.class);
                    assertThatThrownBy(() -> sql.setAutoCommit(true)).isInstanceOf(InvalidState.class);
                    return debit(sql, amount);
                }));

        assertThat(steadwork.workflow(DEBIT).trigger(30).await(PATIENCE)).isEqualTo(70);
    }

    @Test
    void a_trigger_that_would_wait_for_its_own_transaction_is_refused() {
        assumeThat(database).isEqualTo(TestDatabase.SQLITE);
        steadwork.register(LETTER);
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", Integer.class, sql -> {
                    assertThatThrownBy(() -> steadwork.workflow(LETTER).trigger("letter"))
                            .isInstanceOf(InvalidState.class)
                            .hasMessageContaining(".in(connection)");
                    return debit(sql, amount);
                }));

        assertThat(steadwork.workflow(DEBIT).trigger(30).await(PATIENCE)).isEqualTo(70);
    }

    @Test
    @Proves("STEP-11")
    void what_would_end_the_transaction_by_a_side_door_is_refused() {
        assumeThat(database).isEqualTo(TestDatabase.SQLITE);
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction("debit", Integer.class, sql -> {
                    assertThatThrownBy(sql::setSavepoint).isInstanceOf(InvalidState.class);
                    assertThatThrownBy(() -> steadwork.run(ctx.runId()).signal("go", 1))
                            .isInstanceOf(InvalidState.class);
                    return debit(sql, amount);
                }));

        assertThat(steadwork.workflow(DEBIT).trigger(30).await(PATIENCE)).isEqualTo(70);
        assertThat(balance()).isEqualTo(70);
    }

    @Test
    void a_timeout_is_refused() {
        work(
                DEBIT,
                (ctx, amount) -> ctx.transaction(
                        "debit",
                        TypeRef.of(Integer.class),
                        StepOptions.defaults().timeout(Duration.ofSeconds(1)),
                        sql -> 1));

        var error = failureOf(steadwork.workflow(DEBIT).trigger(30));

        assertThat(error.type()).isEqualTo(InvalidArgument.class.getName());
        assertThat(error.message()).contains("query timeout");
    }

    @Test
    @Proves("STEP-11")
    void a_store_without_a_connection_says_so() {
        var remote = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, args) -> InvocationHandler.invokeDefault(proxy, method, args));
        steadwork.register(DEBIT);
        var run = steadwork.workflow(DEBIT).trigger(1).id();

        assertThatThrownBy(() -> remote.transact(run, 1, new StepRecord.Key("debit", 1, 1), sql -> null))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(run.toString())
                .hasMessageContaining("remote")
                .hasMessageContaining("ctx.step");
    }

    private static int debit(Connection sql, int amount) throws SQLException {
        try (var update = sql.prepareStatement("UPDATE account SET balance = balance - ? WHERE id = 1")) {
            update.setInt(1, amount);
            update.executeUpdate();
        }
        try (var query = sql.prepareStatement("SELECT balance FROM account WHERE id = 1");
                var rows = query.executeQuery()) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private String raiseEpoch() {
        return database == TestDatabase.POSTGRES
                ? "UPDATE steadwork.run SET lease_epoch = lease_epoch + 1"
                : "UPDATE steadwork_run SET lease_epoch = lease_epoch + 1";
    }

    private int balance() {
        try (var connection = connect();
                var query = connection.prepareStatement("SELECT balance FROM account WHERE id = 1");
                var rows = query.executeQuery()) {
            rows.next();
            return rows.getInt(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
