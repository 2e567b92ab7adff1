package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.Payload;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunError;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.StepKind;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The plans that Postgres keeps for the statements of the hot path. They are made when the tables are empty and nobody has
 * looked at them, and must still be right when the tables are big.
 */
@Proves("CLAIM-6")
class PlansTest extends PostgresFixture {
    private static final RunError ERROR = new RunError("java.io.IOException", "no route to host", null, null);

    /** A look at the ready runs of one queue, not of all. */
    private static final String BY_QUEUE =
            "using run_ready on run.*\\n +Index Cond: \\(\\(hashtextextended\\(namespace, .*AND \\(hashtextextended\\(queue, ";

    private Connection connection;

    /** One connection for everything, so that the statements it has prepared can be looked at. */
    @BeforeEach
    void keepOneConnection() throws SQLException {
        limit(QueueLimit.concurrency(1000).perKey(2).rate(1000, Duration.ofMinutes(1)));
        store.close();
        connection = DriverManager.getConnection(url + "&prepareThreshold=1");
        store = openStore(keeping(connection));
    }

    @AfterEach
    void closeConnection() throws SQLException {
        connection.close();
    }

    @Test
    void statements_prepared_on_a_fresh_database_use_the_right_indexes_once_a_thousand_runs_are_there()
            throws SQLException {
        leaveAnalysisToTheStore();
        useEveryStatement();
        trigger(1_000);
        awaitAnalysis();
        assertRightIndexes("prepared when fresh");

        fillUp();
        useEveryStatement();
        assertRightIndexes("prepared when fresh, tables big and analysed only when they were small");

        execute("ANALYZE");
        useEveryStatement();
        assertRightIndexes("tables big and analysed");
    }

    @Test
    void statements_prepared_on_a_big_database_that_nobody_analysed_use_the_right_indexes() throws SQLException {
        leaveAnalysisToTheStore();
        fillUp();
        useEveryStatement();
        assertRightIndexes("tables big and not analysed");
    }

    @Test
    void statements_use_the_right_indexes_when_one_was_built_after_the_tables_were_analysed() throws SQLException {
        leaveAnalysisToTheStore();
        fillUp();
        execute("ANALYZE");
        var index = lines("SELECT pg_get_indexdef('steadwork.run_ready'::regclass)");
        execute("DROP INDEX steadwork.run_ready");
        execute(index);

        useEveryStatement();

        assertRightIndexes("tables big and analysed, index new");
    }

    @Test
    void a_table_that_was_analysed_when_it_was_tiny_is_analysed_again() throws SQLException {
        leaveAnalysisToTheStore();
        trigger(20);
        execute("ANALYZE");
        useEveryStatement();

        trigger(1_000);
        awaitAnalysis();
        fillUp();

        assertRightIndexes("prepared when tiny, tables big");
    }

    @Test
    void a_big_database_that_nobody_analysed_is_analysed_when_it_is_opened() throws SQLException {
        leaveAnalysisToTheStore();
        fillUp();

        store.checkSchema();

        awaitAnalysis();
    }

    private void leaveAnalysisToTheStore() throws SQLException {
        execute("ALTER TABLE steadwork.run SET (autovacuum_enabled = off)");
        execute("ALTER TABLE steadwork.step SET (autovacuum_enabled = off)");
        execute("ALTER TABLE steadwork.step_attempt SET (autovacuum_enabled = off)");
    }

    private void awaitAnalysis() {
        await().until(() -> selectInt("SELECT reltuples FROM pg_class WHERE oid = 'steadwork.run'::regclass") >= 1_000);
    }

    /** More often than Postgres tries plans for single calls. */
    private void useEveryStatement() {
        for (int i = 0; i < 8; i++) {
            trigger(6);
            var held = claim(List.of(TYPE, "other"), 6, LEASE);
            store.write(List.of(step(held.get(0), "charge", 1), attempt(held.get(1))));
            store.heartbeat(heartbeat(held));
            store.promote(new PromoteRequest(NAMESPACE, List.of(TYPE), List.of(), 10));
            store.write(List.of(
                    new Write.Finish(
                            held.get(0).id(), held.get(0).epoch(), RunStatus.COMPLETED, Payload.NONE, null, null),
                    park(held.get(2)),
                    new Write.Pause(held.get(3).id(), held.get(3).epoch()),
                    new Write.Release(held.get(4).id(), held.get(4).epoch())));
            store.write(List.of(step(held.get(0), "too late", 2)));
            claimUnderALimit();
            claimAndEndAtOnce();
        }
    }

    /** In a queue of its own: runs that were claimed before are claimed in the usual way. */
    private void claimAndEndAtOnce() {
        store.triggerAll(List.of(newRun("short", null), newRun("short", null)));
        var request =
                new ClaimRequest(NAMESPACE, "short", List.of("short"), List.of(TYPE), List.of(), List.of(), 2, LEASE);
        try (var claim = store.openClaim(request).orElseThrow()) {
            var ended = claim.claimed().runs().get(0);
            claim.keep(List.of(
                    new Write.Finish(ended.id(), ended.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null)));
        }
    }

    private void claimUnderALimit() {
        store.triggerAll(List.of(keyed("a"), keyed("b"), keyed(null)));
        var claimed = store.claimLimited(limitedClaim(10)).orElseThrow().runs();
        assertThat(claimed).isNotEmpty();
    }

    private void assertRightIndexes(String when) throws SQLException {
        var plans = plans();
        assertThat(plans.keySet()).as("statements over runs").hasSizeGreaterThan(9);
        plans.forEach((sql, plan) -> {
            assertThat(plan)
                    .as("plan %s of %s", when, sql)
                    .doesNotContain("Seq Scan on run")
                    .doesNotContain("Seq Scan on step")
                    .doesNotContainPattern("Index Cond: \\(shard = [^ ]+\\)\n");
            if (sql.contains("UPDATE \"steadwork\".run")) {
                var way = sql.contains("r.ctid = due.place") ? "Tid Scan on run r" : "using run_pkey on run r";
                assertThat(plan).as("plan %s of %s", when, sql).contains(way);
            }
            if (sql.contains("status = 'PENDING'\n")) {
                assertThat(plan).as("plan %s of %s", when, sql).contains("using run_ready on run");
                assertThat(plan.replaceAll(BY_QUEUE, "by queue"))
                        .as("plan %s of %s", when, sql)
                        .doesNotContain("using run_ready on");
            }
            if (sql.contains("status IN ('SLEEPING', 'RUNNING')")) {
                assertThat(plan).as("plan %s of %s", when, sql).contains("using run_timer on run");
            }
            if (sql.contains("AND limited")) {
                assertThat(plan)
                        .as("plan %s of %s", when, sql)
                        .contains("using run_limited on run")
                        .contains("using run_ready_key on run");
            }
        });
    }

    /** By statement, the plan that the connection keeps for it. */
    private Map<String, String> plans() throws SQLException {
        var calls = new LinkedHashMap<String, String>();
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("""
                        SELECT name, statement, cardinality(parameter_types)
                          FROM pg_prepared_statements
                         WHERE statement LIKE '%"steadwork".run%'
                           AND cardinality(parameter_types) > 0
                        """)) {
            while (rows.next()) {
                var nulls = String.join(", ", Collections.nCopies(rows.getInt(3), "NULL"));
                calls.put(rows.getString(2), "EXPLAIN EXECUTE \"%s\" (%s)".formatted(rows.getString(1), nulls));
            }
        }
        execute("SET plan_cache_mode = force_generic_plan");
        var plans = new LinkedHashMap<String, String>();
        for (var call : calls.entrySet()) {
            plans.put(call.getKey(), lines(call.getValue()));
        }
        execute("RESET plan_cache_mode");
        return plans;
    }

    private String lines(String sql) throws SQLException {
        var lines = new ArrayList<String>();
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                lines.add(rows.getString(1));
            }
        }
        return String.join("\n", lines);
    }

    private void fillUp() throws SQLException {
        execute("""
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, lease_epoch)
                SELECT 0, gen_random_uuid(), 'default', 'checkout', 'checkout',
                       CASE WHEN n <= 200000 THEN 'COMPLETED' ELSE 'SLEEPING' END,
                       0,
                       CASE WHEN n > 200000 THEN now() + interval '1 day' END,
                       now(), now(), 1
                  FROM generate_series(1, 250000) AS n
                """);
        execute("""
                INSERT INTO steadwork.step (shard, run_id, name, occurrence, position, kind, status, attempt)
                SELECT shard, run_id, 'charge', 1, 1, 'FUNCTION', 'COMPLETED', 1
                  FROM steadwork.run
                 LIMIT 100000
                    ON CONFLICT DO NOTHING
                """);
        execute("""
                INSERT INTO steadwork.step_attempt
                    (shard, run_id, name, occurrence, attempt, position, kind, error, started_at, finished_at)
                SELECT shard, run_id, 'ship', 1, 1, 2, 'FUNCTION', '{}', now(), now()
                  FROM steadwork.run
                 LIMIT 100000
                    ON CONFLICT DO NOTHING
                """);
    }

    @Test
    void while_a_session_keeps_vacuum_from_its_work_what_was_handled_is_not_read_by_every_claim() throws SQLException {
        leaveAnalysisToTheStore();
        try (var idle = DriverManager.getConnection(url)) {
            keepVacuumFromItsWork(idle);
            leaveDeadEntries();
            assertThat(pagesOf(() -> store.promote(promotion()))).isGreaterThan(100_000);
            assertThat(pagesOf(() -> claim(10, LEASE))).isGreaterThan(100_000);

            trigger(10);
            assertThat(pagesOf(() -> assertThat(claim(20, LEASE)).hasSize(10)))
                    .as("pages of run and its indexes")
                    .isLessThan(1_000);
            assertThat(pagesOf(() -> store.promote(promotion()))).isLessThan(1_000);
        }
    }

    @Test
    void a_run_that_lost_its_worker_is_found_although_it_is_older_than_what_was_taken() throws SQLException {
        leaveAnalysisToTheStore();
        try (var idle = DriverManager.getConnection(url)) {
            trigger(1);
            var lost = claim(List.of(TYPE), 1, Duration.ofMillis(100)).get(0);
            keepVacuumFromItsWork(idle);
            leaveDeadEntries();
            assertThat(claim(1, LEASE)).isEmpty();
            await().until(() -> store.promote(promotion()).promoted() == 1);

            assertThat(claim(1, LEASE)).extracting(ClaimedRun::id).containsExactly(lost.id());
        }
    }

    private static void keepVacuumFromItsWork(Connection idle) throws SQLException {
        idle.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        idle.setAutoCommit(false);
        idle.createStatement().execute("SELECT 1");
    }

    /** As many runs leave them that were ready, claimed and ended. */
    private void leaveDeadEntries() throws SQLException {
        execute("""
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at)
                SELECT 0, gen_random_uuid(), 'default', 'checkout', 'checkout', 'PENDING', 0, now() - random() * interval '1 hour', now(), now()
                  FROM generate_series(1, 150000)
                """);
        execute("UPDATE steadwork.run SET status = 'RUNNING' WHERE status = 'PENDING'");
        execute(
                "UPDATE steadwork.run SET status = 'COMPLETED', due_at = NULL WHERE status = 'RUNNING' AND worker IS NULL");
    }

    private long pagesOf(Runnable work) throws SQLException {
        long before = pagesRead();
        work.run();
        return pagesRead() - before;
    }

    private static PromoteRequest promotion() {
        return new PromoteRequest(NAMESPACE, List.of(TYPE), List.of(), 10);
    }

    @Test
    @Proves("WORKER-3")
    void a_claim_under_a_limit_reads_no_backlog_of_a_key_that_is_full() throws SQLException {
        limit(QueueLimit.concurrency(10).perKey(1));
        for (int i = 0; i < 8; i++) {
            store.triggerAll(List.of(keyed("full"), keyed("full")));
            store.claimLimited(limitedClaim(10));
        }
        fillUpKey("full");
        execute("ANALYZE steadwork.run");
        store.claimLimited(limitedClaim(10));
        long before = pagesRead();

        store.triggerAll(List.of(keyed("other")));
        var claimed = store.claimLimited(limitedClaim(10)).orElseThrow();

        assertThat(claimed.runs()).hasSize(1);
        assertThat(claimed.heldBack()).isNotNull();
        assertThat(pagesRead() - before)
                .as("pages of run and its indexes; the backlog has thousands")
                .isLessThan(400);
    }

    @Test
    @Proves("DATA-3")
    void a_list_of_what_waits_in_a_queue_reads_nothing_of_other_queues() throws SQLException {
        fillUpKey("other");
        trigger(10);
        execute("ANALYZE steadwork.run");
        var waiting = new RunQuery.Filter(
                Set.of(RunStatus.PENDING), null, TYPE, Map.of(), null, null, null, null, null, false);
        long before = pagesRead();

        assertThat(store.count(NAMESPACE, waiting)).isEqualTo(10);

        assertThat(pagesRead() - before).as("pages of run and its indexes").isLessThan(100);
    }

    private void fillUpKey(String key) throws SQLException {
        execute("""
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, concurrency_key)
                SELECT 0, gen_random_uuid(), 'default', 'checkout', 'limited', 'PENDING', 0, now(), now(), now(), '%s'
                  FROM generate_series(1, 100000) AS n
                """.formatted(key));
    }

    private long pagesRead() throws SQLException {
        execute("SELECT pg_stat_force_next_flush()");
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("""
                        SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
                          FROM pg_statio_user_tables
                         WHERE relname = 'run'
                        """)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Over another connection: setting a limit is no part of the hot path. */
    private void limit(QueueLimit limit) {
        try (var operator = openStore()) {
            operator.limit(NAMESPACE, "limited", limit);
        }
    }

    private static NewRun keyed(String concurrencyKey) {
        var run = newRun();
        return new NewRun(
                run.id(),
                NAMESPACE,
                TYPE,
                "limited",
                concurrencyKey,
                run.input(),
                0,
                run.start(),
                run.deadline(),
                null,
                null,
                null,
                null,
                null,
                run.check(),
                Map.of(),
                null);
    }

    private static ClaimRequest limitedClaim(int limit) {
        return new ClaimRequest(
                NAMESPACE, "worker", List.of("limited"), List.of(TYPE), List.of(), List.of(), limit, LEASE);
    }

    private void execute(String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static Write.SaveAttempt attempt(ClaimedRun run) {
        var time = Instant.parse("2030-01-01T00:00:00Z");
        return new Write.SaveAttempt(
                run.id(),
                run.epoch(),
                new AttemptRecord(new StepRecord.Key("ship", 1, 1), StepKind.FUNCTION, 1, ERROR, time, time));
    }

    private static Write.Park park(ClaimedRun run) {
        return new Write.Park(run.id(), run.epoch(), Write.Wake.after(Duration.ofHours(1)), null, null, 1, null);
    }

    private static Heartbeat heartbeat(List<ClaimedRun> runs) {
        var held = runs.stream()
                .map(run -> new Heartbeat.Held(run.id(), run.epoch(), LEASE, null, null))
                .toList();
        return new Heartbeat(NAMESPACE, "worker", held, held.size(), 0, 0, false);
    }
}
