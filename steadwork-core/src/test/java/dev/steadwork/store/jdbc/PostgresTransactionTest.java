package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.Payload;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepKind;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import dev.steadwork.testing.CountingDataSource;
import dev.steadwork.testing.Proves;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What is one transaction, and how many round trips it takes. */
class PostgresTransactionTest extends PostgresFixture {
    private static final RunError ERROR = new RunError("java.io.IOException", "no route to host", null, null);

    /** More often than it takes the driver and the server to prepare the statements for good. */
    private static final int OFTEN = 15;

    @Test
    @Proves("STEP-3")
    void a_batch_of_every_kind_of_write_is_one_transaction() throws SQLException {
        for (int i = 0; i < OFTEN; i++) {
            var batch = oneOfEachKind();

            assertThat(store.write(batch)).allMatch(PostgresTransactionTest::isAccepted);

            assertThat(transactionsThatTouched(batch)).isEqualTo(1);
        }
    }

    @Test
    @Proves({"STEP-4", "STEP-5", "TRIG-2"})
    void a_batch_whose_answer_was_lost_is_sent_again_and_changes_nothing() throws SQLException {
        var batch = oneOfEachKind();
        store.write(batch);
        var transaction = selectText("SELECT max(xmin::text::bigint) FROM steadwork.run");

        assertThat(store.write(batch)).allMatch(PostgresTransactionTest::isAccepted);

        assertThat(selectText("SELECT max(xmin::text::bigint) FROM steadwork.run"))
                .isEqualTo(transaction);
        assertThat(selectInt("SELECT count(*) FROM steadwork.step")).isEqualTo(2);
    }

    @Test
    @Proves("TRIG-6")
    void runs_whose_answer_was_lost_are_triggered_again_and_exist_once() throws SQLException {
        var known = List.of(newRun(), newRun());
        store.triggerAll(known);
        var more = List.of(known.get(0), newRun(), known.get(1));

        assertThat(store.triggerAll(more))
                .extracting(TriggerResult::outcome)
                .containsOnly(TriggerResult.Outcome.CREATED);

        assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(3);
    }

    @Test
    @Proves("DEAD-1")
    void a_dead_letter_belongs_to_the_transaction_of_the_failure() throws SQLException {
        trigger(1);
        var run = claim(1, LEASE).get(0);
        var letter = newRun("dead-letters", null);
        var batch = List.of(
                new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, ERROR, letter),
                new Write.Trigger(newRun()));

        store.write(batch);

        var both = List.of(new Write.Trigger(letter), batch.get(0), batch.get(1));
        assertThat(transactionsThatTouched(both)).isEqualTo(1);
    }

    @Test
    @Proves("STEP-3")
    void a_batch_that_is_too_big_for_one_trip_is_still_one_transaction() throws SQLException {
        var batch =
                Stream.generate(() -> new Write.Trigger(newRun())).limit(2_500).toList();

        assertThat(store.write(batch)).allMatch(PostgresTransactionTest::isAccepted);

        assertThat(transactionsThatTouched(batch)).isEqualTo(1);
    }

    @Test
    @Proves("STEP-3")
    void a_statement_that_fails_takes_the_whole_batch_with_it() throws SQLException {
        trigger(OFTEN);
        var held = claim(OFTEN, LEASE);
        for (var run : held) {
            var notText = newRun("\u0000", null);

            assertThatThrownBy(() -> store.write(List.of(step(run, "charge", 1), new Write.Trigger(notText))))
                    .isInstanceOf(RuntimeException.class);
        }

        assertThat(selectInt("SELECT count(*) FROM steadwork.step")).isZero();
        assertThat(store.write(held.stream().map(run -> step(run, "charge", 1)).toList()))
                .containsOnly(Ack.STORED);
    }

    @Test
    @Proves({"CLAIM-1", "LEASE-2", "STEP-3"})
    void every_call_of_the_hot_path_is_one_round_trip() {
        var source = new PGSimpleDataSource();
        source.setUrl(url);
        var counting = new CountingDataSource(source);
        trigger(3);
        store.close();
        store = openStore(counting.counted());
        store.settings(NAMESPACE); // once, when a process opens the database

        long before = counting.statements();
        var held = claim(List.of(TYPE, "other"), 3, LEASE);
        assertThat(counting.statements() - before).as("claim").isEqualTo(1);

        before = counting.statements();
        store.write(List.of(
                step(held.get(0), "charge", 1), step(held.get(1), "charge", 1), attempt(held.get(2), "ship", 1)));
        assertThat(counting.statements() - before).as("write").isEqualTo(1);

        before = counting.statements();
        var lease = held.stream()
                .map(run -> new Heartbeat.Held(run.id(), run.epoch(), LEASE, null, null))
                .toList();
        store.heartbeat(new Heartbeat(NAMESPACE, "worker", lease, 3, 0, 0, false));
        assertThat(counting.statements() - before).as("heartbeat").isEqualTo(1);

        before = counting.statements();
        store.promote(new PromoteRequest(NAMESPACE, List.of(TYPE), List.of(), 10));
        assertThat(counting.statements() - before).as("promote").isEqualTo(1);
    }

    @Test
    @Proves("WORKER-3")
    void a_limit_is_locked_by_the_transaction_that_claims_under_it() throws SQLException {
        // The driver then asks for the types of parameters, learns the size of rows too, and sends big ones apart.
        try (var connection = DriverManager.getConnection(url + "&stringtype=unspecified")) {
            store.close();
            store = openStore(keeping(connection));
            store.limit(NAMESPACE, TYPE, QueueLimit.concurrency(1000));
            for (int i = 0; i < OFTEN; i++) {
                trigger(1);

                var run =
                        store.claimLimited(limitedClaim()).orElseThrow().runs().get(0);

                assertThat(selectText("SELECT xmax FROM steadwork.queue_limit"))
                        .isEqualTo(
                                selectText("SELECT xmin FROM steadwork.run WHERE run_id = '%s'".formatted(run.id())));
            }
        }
    }

    private static ClaimRequest limitedClaim() {
        return new ClaimRequest(NAMESPACE, "worker", List.of(TYPE), List.of(TYPE), List.of(), List.of(), 1, LEASE);
    }

    @Test
    void connections_of_a_pool_without_autocommit_are_given_back_as_they_were() throws SQLException {
        try (var connection = connect()) {
            connection.setAutoCommit(false);
            store.close();
            store = openStore(keeping(connection));

            var run = newRun();
            store.write(List.of(new Write.Trigger(run)));

            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(1);
        }
    }

    @Test
    @Proves({"TRIG-6", "TRIG-7"})
    void a_refused_batch_leaves_the_callers_transaction_usable() throws SQLException {
        try (var connection = connect()) {
            connection.setAutoCommit(false);
            var refused = store.triggerIn(connection, List.of(newRun(), unregistered(), newRun()));
            var accepted = store.triggerIn(connection, List.of(newRun(), newRun()));
            connection.commit();

            assertThat(refused)
                    .extracting(TriggerResult::outcome)
                    .containsExactly(
                            TriggerResult.Outcome.CREATED,
                            TriggerResult.Outcome.UNKNOWN_TYPE,
                            TriggerResult.Outcome.CREATED);
            assertThat(accepted).allMatch(TriggerResult::accepted);
        }
        assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(2);
    }

    private static NewRun unregistered() {
        var run = newRun();
        return new NewRun(
                run.id(),
                run.namespace(),
                run.type(),
                null,
                null,
                run.input(),
                0,
                run.start(),
                run.deadline(),
                null,
                null,
                null,
                null,
                null,
                TriggerCheck.REQUIRE_REGISTERED,
                Map.of(),
                null);
    }

    private List<Write> oneOfEachKind() {
        trigger(6);
        var held = claim(6, LEASE);
        var batch = new ArrayList<Write>();
        batch.add(step(held.get(0), "charge", 1));
        batch.add(attempt(held.get(1), "ship", 101));
        batch.add(
                new Write.Finish(held.get(2).id(), held.get(2).epoch(), RunStatus.COMPLETED, Payload.NONE, null, null));
        batch.add(park(held.get(3)));
        batch.add(new Write.Pause(held.get(4).id(), held.get(4).epoch()));
        batch.add(new Write.Release(held.get(5).id(), held.get(5).epoch()));
        batch.add(new Write.Trigger(newRun("later", null)));
        return batch;
    }

    private static Write.SaveAttempt attempt(ClaimedRun run, String step, int number) {
        var time = Instant.parse("2030-01-01T00:00:00Z");
        return new Write.SaveAttempt(
                run.id(),
                run.epoch(),
                new AttemptRecord(new StepRecord.Key(step, 1, 1), StepKind.FUNCTION, number, ERROR, time, time));
    }

    private static Write.Park park(ClaimedRun run) {
        var sleep = step(run, "cooling-off", 1).step();
        return new Write.Park(run.id(), run.epoch(), Write.Wake.after(Duration.ofHours(1)), sleep, null, 1, null);
    }

    private static boolean isAccepted(Object result) {
        return result instanceof TriggerResult triggered ? triggered.accepted() : result.equals(Ack.STORED);
    }

    /** Steps and attempts are told apart from their runs, which they only lock. */
    private int transactionsThatTouched(List<? extends Write> batch) throws SQLException {
        var moved = batch.stream()
                .filter(write -> !(write instanceof Write.SaveStep) && !(write instanceof Write.SaveAttempt))
                .map(Write::run);
        return selectInt("""
                SELECT count(DISTINCT touched.xmin::text)
                  FROM (SELECT xmin FROM steadwork.run WHERE run_id IN (%s)
                        UNION ALL
                        SELECT xmin FROM steadwork.step WHERE run_id IN (%2$s)
                        UNION ALL
                        SELECT xmin FROM steadwork.step_attempt WHERE run_id IN (%2$s)) AS touched
                """.formatted(ids(moved), ids(batch.stream().map(Write::run))));
    }

    private static String ids(Stream<RunId> runs) {
        return runs.map("'%s'"::formatted).collect(Collectors.joining(", "));
    }
}
