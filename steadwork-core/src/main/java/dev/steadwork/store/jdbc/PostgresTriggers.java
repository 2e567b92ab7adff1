package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Signals;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Creates runs: insert first, and only for those that were not inserted a look at why. */
final class PostgresTriggers {
    /** Two transactions that want the same keys wait for each other in one direction only. */
    private static final Comparator<NewRun> BY_KEY =
            Comparator.comparing(NewRun::idempotencyKey, Comparator.nullsFirst(Comparator.naturalOrder()));

    private static final int MAX_PER_STATEMENT = 1_000;

    private final Database database;
    private final StoreConfig config;
    private final PostgresEvents events;
    private final PostgresPlainRuns plainRuns;

    PostgresTriggers(Database database, StoreConfig config, PostgresEvents events, PostgresPlainRuns plainRuns) {
        this.database = database;
        this.config = config;
        this.events = events;
        this.plainRuns = plainRuns;
    }

    /** What became of the runs, and in which queues something is ready now or soon. */
    static final class Triggered {
        private final Map<RunId, TriggerResult> results = new HashMap<>();
        private final Set<Integer> topics = new HashSet<>();
        private final List<RunId> created = new ArrayList<>();

        TriggerResult of(NewRun run) {
            var result = results.get(run.id());
            if (result == null) {
                throw new IllegalStateException("Nothing is known of run " + run.id());
            }
            return result;
        }

        List<TriggerResult> of(List<NewRun> runs) {
            return runs.stream().map(this::of).toList();
        }

        Set<Integer> topics() {
            return topics;
        }

        /** Those that were not there before. */
        List<NewEvent> events() {
            return created.stream().map(NewEvent::created).toList();
        }

        private boolean isRefused() {
            return !results.values().stream().allMatch(TriggerResult::accepted);
        }

        boolean knows(List<NewRun> runs) {
            return runs.stream().allMatch(this::knows);
        }

        private boolean knows(NewRun run) {
            return results.containsKey(run.id());
        }

        private void add(
                NewRun run, TriggerResult.Outcome outcome, @Nullable UUID holder, @Nullable String holderType) {
            var id = holder == null ? run.id() : new RunId(holder);
            results.put(run.id(), new TriggerResult(outcome, id, holderType));
        }

        void created(NewRun run, String queue) {
            add(run, TriggerResult.Outcome.CREATED, null, null);
            topics.add(Signals.topic(run.namespace(), queue));
        }

        void started(NewRun run, TriggerResult.Started started) {
            results.put(run.id(), new TriggerResult(TriggerResult.Outcome.CREATED, run.id(), null, started));
        }

        private void readCreated(ResultSet row, String namespace) throws SQLException {
            var id = new RunId(row.getObject("run_id", UUID.class));
            results.put(id, new TriggerResult(TriggerResult.Outcome.CREATED, id, null));
            created.add(id);
            if (row.getBoolean("soon")) {
                topics.add(Signals.topic(namespace, row.getString("queue")));
            }
        }
    }

    /** What is decided about the runs if one statement creates all of them, or none; otherwise nothing. */
    Optional<List<PostgresPlainRuns.Plain>> asOneStatement(List<NewRun> runs) {
        if (runs.size() > MAX_PER_STATEMENT
                || runs.stream().map(NewRun::namespace).distinct().count() != 1) {
            return Optional.empty();
        }
        var plain = new ArrayList<PostgresPlainRuns.Plain>();
        for (var run : runs) {
            var one = plainRuns.plain(new Write.Trigger(run));
            if (one == null) {
                return Optional.empty();
            }
            plain.add(one);
        }
        return Optional.of(plain);
    }

    /** Creates such runs, or finds out why not. */
    Triggered createNew(Connection connection, List<NewRun> runs, List<PostgresPlainRuns.Plain> plain)
            throws SQLException {
        var triggered = new Triggered();
        var pipeline = new Pipeline(database);
        plainRuns.addInserts(pipeline, plain, triggered);
        try {
            pipeline.run(connection);
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicate(e)) {
                throw e;
            }
            return create(connection, runs); // sent again, because the answer was lost
        }
        settle(connection, runs, triggered);
        return triggered;
    }

    /** Adds the inserts of runs that nobody can have created before. */
    void addNew(Pipeline pipeline, List<Write.Trigger> triggers, Triggered triggered) {
        var plain = new ArrayList<PostgresPlainRuns.Plain>();
        var others = new ArrayList<NewRun>();
        for (var trigger : triggers) {
            var one = plainRuns.plain(trigger);
            if (one == null) {
                others.add(trigger.newRun());
            } else {
                plain.add(one);
            }
        }
        plainRuns.addInserts(pipeline, plain, triggered);
        addInserts(pipeline, others, triggered);
    }

    /** Where those of the runs will be ready that ask for nothing special, and are not started by who creates them. */
    Set<Integer> expectedTopics(List<Write.Trigger> triggers) {
        var topics = new HashSet<Integer>();
        for (var trigger : triggers) {
            var one = trigger.starter() == null ? plainRuns.plain(trigger) : null;
            if (one != null) {
                topics.add(Signals.topic(one.run().namespace(), one.queue()));
            }
        }
        return topics;
    }

    /** Creates all runs, or none if one is refused, in the connection's transaction. */
    Triggered createAll(Connection connection, List<NewRun> runs) throws SQLException {
        if (runs.size() == 1) {
            return create(connection, runs);
        }
        var before = connection.setSavepoint();
        var triggered = create(connection, runs);
        if (triggered.isRefused()) {
            connection.rollback(before);
            triggered.topics.clear();
        } else {
            connection.releaseSavepoint(before);
        }
        return triggered;
    }

    /** Creates the runs, or finds out why not, in as many statements as it takes. */
    Triggered create(Connection connection, List<NewRun> runs) throws SQLException {
        var triggered = new Triggered();
        insert(connection, runs, triggered);
        settle(connection, runs, triggered);
        if (runs.stream().anyMatch(run -> events.areWanted(run.namespace()))) {
            events.append(connection, triggered.events());
        }
        return triggered;
    }

    /** Looks why runs were not created; tries again those whose key has become free meanwhile. */
    void settle(Connection connection, List<NewRun> runs, Triggered triggered) throws SQLException {
        for (var open = unknown(runs, triggered); !open.isEmpty(); open = unknown(open, triggered)) {
            explain(connection, open, triggered);
            var free = unknown(open, triggered);
            if (!free.isEmpty()) {
                insert(connection, free, triggered);
            }
        }
    }

    private void insert(Connection connection, List<NewRun> runs, Triggered triggered) throws SQLException {
        var ordered = runs.stream().sorted(BY_KEY).toList();
        for (int from = 0; from < ordered.size(); from += MAX_PER_STATEMENT) {
            var pipeline = new Pipeline(database);
            addInserts(pipeline, ordered.subList(from, Math.min(from + MAX_PER_STATEMENT, ordered.size())), triggered);
            pipeline.run(connection);
        }
    }

    private static List<NewRun> unknown(List<NewRun> runs, Triggered triggered) {
        return runs.stream().filter(run -> !triggered.knows(run)).toList();
    }

    /** Adds the insert, one per namespace. */
    void addInserts(Pipeline pipeline, List<NewRun> runs, Triggered triggered) {
        var namespaces =
                runs.stream().map(NewRun::namespace).distinct().sorted().toList();
        for (var namespace : namespaces) {
            var ordered = runs.stream()
                    .filter(run -> run.namespace().equals(namespace))
                    .sorted(BY_KEY)
                    .toList();
            addInsert(pipeline, namespace, ordered, triggered);
        }
    }

    private void addInsert(Pipeline pipeline, String namespace, List<NewRun> runs, Triggered triggered) {
        // No conflict target: a run that was inserted before its answer got lost is no error either.
        var sql = """
                WITH clock AS MATERIALIZED (
                         SELECT now() AS now,
                                now() + interval '60 seconds' AS soon),
                     asked AS (
                         SELECT u.*,
                                clock.now,
                                coalesce(
                                    timestamptz 'epoch' + u.start_at * interval '1 microsecond',
                                    clock.now + u.start_after * interval '1 microsecond') AS start,
                                coalesce(
                                    timestamptz 'epoch' + u.deadline_at * interval '1 microsecond',
                                    clock.now + u.deadline_after * interval '1 microsecond') AS deadline
                           FROM clock
                          CROSS JOIN unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:types AS text[])),
                                    (SELECT CAST(:queues AS text[])),
                                    (SELECT CAST(:concurrencyKeys AS text[])),
                                    (SELECT CAST(:priorities AS integer[])),
                                    (SELECT CAST(:startAts AS bigint[])),
                                    (SELECT CAST(:startAfters AS bigint[])),
                                    (SELECT CAST(:deadlineAts AS bigint[])),
                                    (SELECT CAST(:deadlineAfters AS bigint[])),
                                    (SELECT CAST(:retries AS text[])),
                                    (SELECT CAST(:versions AS text[])),
                                    (SELECT CAST(:externalIds AS text[])),
                                    (SELECT CAST(:keys AS text[])),
                                    (SELECT CAST(:keyPolicies AS text[])),
                                    (SELECT CAST(:checks AS text[])),
                                    (SELECT CAST(:tags AS text[])),
                                    (SELECT CAST(:parents AS uuid[])),
                                    (SELECT CAST(:parentSteps AS text[])),
                                    (SELECT CAST(:depths AS integer[])),
                                    (SELECT CAST(:endsWithParents AS boolean[])),
                                    (SELECT CAST(:inputTypes AS text[])),
                                    (SELECT CAST(:inputs AS bytea[]))) WITH ORDINALITY
                             AS u (run_id, type, queue, concurrency_key, priority, start_at, start_after, deadline_at,
                                   deadline_after, retry, version, external_id, idempotency_key, key_policy, demand, tags,
                                   parent_run_id, parent_step, depth, ends_with_parent, input_type, input, n)),
                     created AS (
                         INSERT INTO steadwork.run
                             (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, deadline,
                              idempotency_key, key_policy, version, external_id, parent_run_id, parent_step, depth,
                              ends_with_parent, retry, tags, input_type, input, concurrency_key)
                         SELECT CAST(:shard AS smallint),
                                a.run_id,
                                :namespace,
                                a.type,
                                coalesce(a.queue, d.queue, a.type),
                                CASE WHEN a.start > a.now THEN 'SLEEPING' ELSE 'PENDING' END,
                                coalesce(a.priority, 0),
                                greatest(a.start, a.now),
                                a.now,
                                a.now,
                                coalesce(
                                    a.deadline,
                                    CASE WHEN d.timeout_ms IS NOT NULL
                                         THEN greatest(a.start, a.now)
                                              + least(d.timeout_ms, 1000000000000000) * interval '1 millisecond' END),
                                a.idempotency_key,
                                CASE WHEN a.idempotency_key IS NOT NULL
                                     THEN coalesce(a.key_policy, d.key_policy, 'FOREVER') END,
                                a.version,
                                a.external_id,
                                a.parent_run_id,
                                a.parent_step,
                                a.depth,
                                a.ends_with_parent,
                                coalesce(a.retry, d.retry, ns.retry),
                                a.tags,
                                a.input_type,
                                a.input,
                                a.concurrency_key
                           FROM asked AS a
                           LEFT JOIN steadwork.definition AS d
                             ON d.namespace = :namespace
                            AND d.type = a.type
                           LEFT JOIN steadwork.namespace AS ns
                             ON ns.namespace = :namespace
                          WHERE (ns.disabled_at IS NULL OR a.parent_run_id IS NOT NULL)
                            AND CASE a.demand
                                    WHEN 'ACCEPT' THEN true
                                    WHEN 'REQUIRE_REGISTERED' THEN d.type IS NOT NULL
                                    ELSE EXISTS (
                                        SELECT FROM steadwork.worker AS w
                                         WHERE w.namespace = :namespace
                                           AND w.status = 'ONLINE'
                                           AND w.heartbeat_at > a.now - :staleAfter * interval '1 microsecond'
                                           AND (EXISTS (
                                                    SELECT FROM steadwork.worker_type AS t
                                                     WHERE t.namespace = :namespace
                                                       AND t.type = a.type
                                                       AND t.worker_id = w.worker_id)
                                                OR EXISTS (
                                                    SELECT FROM jsonb_array_elements_text(CAST(w.type_prefixes AS jsonb)) AS p (prefix)
                                                     WHERE starts_with(a.type, p.prefix))))
                                END
                          ORDER BY a.n
                         ON CONFLICT DO NOTHING
                         RETURNING run_id, queue, due_at)
                SELECT created.run_id,
                       CAST(created.queue AS varchar(255)) AS queue,
                       created.due_at <= clock.soon AS soon
                  FROM created
                 CROSS JOIN clock
                """;
        var values = Columns.of(runs)
                .with("shard", Shards.ONLY)
                .with("namespace", namespace)
                .with("staleAfter", Columns.micros(config.staleAfter()))
                .uuids("runs", run -> run.id().uuid())
                .texts("types", NewRun::type)
                .texts("queues", NewRun::queue)
                .texts("concurrencyKeys", NewRun::concurrencyKey)
                .ints("priorities", run -> run.priority() == 0 ? null : (Integer) run.priority())
                .times("startAts", run -> run.start().at())
                .durations("startAfters", run -> run.start().after())
                .times("deadlineAts", run -> run.deadline().at())
                .durations("deadlineAfters", run -> run.deadline().after())
                .texts("retries", run -> Rows.retryJson(run.retry()))
                .texts("versions", NewRun::version)
                .texts("externalIds", NewRun::externalId)
                .texts("keys", NewRun::idempotencyKey)
                .texts("keyPolicies", run -> nameOf(run.keyPolicy()))
                .texts("checks", run -> run.check().name())
                .texts("tags", run -> Rows.tagsJson(run.tags()))
                .uuids("parents", parent(parent -> parent.run().uuid()))
                .texts("parentSteps", parent(RunInfo.Parent::step))
                .ints("depths", run -> run.depth() == 0 ? null : (Integer) run.depth())
                .booleans("endsWithParents", run -> run.endsWithParent() ? true : null)
                .texts("inputTypes", run -> Rows.payloadType(run.input()))
                .bytes("inputs", run -> Rows.payloadBytes(run.input()))
                .values();
        pipeline.add(sql, values, row -> triggered.readCreated(row, namespace));
    }

    /** Answers for those runs that exist, whose key another run has, or whose type is refused; not for the others. */
    private void explain(Connection connection, List<NewRun> runs, Triggered triggered) throws SQLException {
        var sql = """
                WITH asked AS MATERIALIZED (
                         SELECT u.*
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:namespaces AS text[])),
                                    (SELECT CAST(:types AS text[])),
                                    (SELECT CAST(:keys AS text[])),
                                    (SELECT CAST(:checks AS text[]))) WITH ORDINALITY
                             AS u (run_id, namespace, type, idempotency_key, demand, n))
                SELECT a.n,
                       own.run_id IS NOT NULL AS exists,
                       holder.run_id AS holder,
                       holder.type AS holder_type,
                       ns.disabled_at IS NOT NULL AS disabled,
                       a.demand = 'REQUIRE_REGISTERED' AND d.type IS NULL AS unknown,
                       a.demand = 'REQUIRE_ONLINE' AND NOT EXISTS (
                           SELECT FROM steadwork.worker AS w
                            WHERE w.namespace = a.namespace
                              AND w.status = 'ONLINE'
                              AND w.heartbeat_at > now() - :staleAfter * interval '1 microsecond'
                              AND (EXISTS (
                                       SELECT FROM steadwork.worker_type AS t
                                        WHERE t.namespace = a.namespace
                                          AND t.type = a.type
                                          AND t.worker_id = w.worker_id)
                                   OR EXISTS (
                                       SELECT FROM jsonb_array_elements_text(CAST(w.type_prefixes AS jsonb)) AS p (prefix)
                                        WHERE starts_with(a.type, p.prefix)))) AS unserved
                  FROM asked AS a
                  LEFT JOIN steadwork.definition AS d
                    ON d.namespace = a.namespace
                   AND d.type = a.type
                  LEFT JOIN steadwork.namespace AS ns
                    ON ns.namespace = a.namespace
                  LEFT JOIN LATERAL (
                       SELECT r.run_id
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = a.run_id
                       OFFSET 0) AS own ON true
                  LEFT JOIN LATERAL (
                       SELECT r.run_id, r.type
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.namespace = a.namespace
                          AND r.idempotency_key = a.idempotency_key
                          AND r.idempotency_key IS NOT NULL
                          AND r.deleted_at IS NULL
                          AND (r.key_policy = 'FOREVER' OR r.status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED'))
                       OFFSET 0) AS holder ON true
                """;
        var values = Columns.of(runs)
                .with("shard", Shards.ONLY)
                .with("staleAfter", Columns.micros(config.staleAfter()))
                .uuids("runs", run -> run.id().uuid())
                .texts("namespaces", NewRun::namespace)
                .texts("types", NewRun::type)
                .texts("keys", NewRun::idempotencyKey)
                .texts("checks", run -> run.check().name())
                .values();
        new Pipeline(database)
                .add(sql, values, row -> explain(row, runs.get(row.getInt("n") - 1), triggered))
                .run(connection);
    }

    private static void explain(ResultSet row, NewRun run, Triggered triggered) throws SQLException {
        var holder = row.getObject("holder", UUID.class);
        var holderType = row.getString("holder_type");
        if (row.getBoolean("exists")) {
            triggered.add(run, TriggerResult.Outcome.CREATED, null, null);
        } else if (row.getBoolean("disabled") && run.parent() == null) {
            triggered.add(run, TriggerResult.Outcome.NAMESPACE_DISABLED, null, null);
        } else if (holder != null) {
            var sameType = run.type().equals(holderType);
            var outcome = sameType ? TriggerResult.Outcome.EXISTED : TriggerResult.Outcome.KEY_OF_OTHER_TYPE;
            triggered.add(run, outcome, holder, holderType);
        } else if (row.getBoolean("unknown")) {
            triggered.add(run, TriggerResult.Outcome.UNKNOWN_TYPE, null, null);
        } else if (row.getBoolean("unserved")) {
            triggered.add(run, TriggerResult.Outcome.NO_WORKER_ONLINE, null, null);
        }
    }

    private static <V> Function<NewRun, @Nullable V> parent(Function<RunInfo.Parent, @Nullable V> column) {
        return run -> run.parent() == null ? null : column.apply(run.parent());
    }

    private static @Nullable String nameOf(@Nullable Enum<?> value) {
        return value == null ? null : value.name();
    }
}
