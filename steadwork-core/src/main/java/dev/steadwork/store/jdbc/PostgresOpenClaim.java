package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.Unavailable;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.OpenClaim;
import dev.steadwork.store.Write;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A claim that only locks its runs until it is kept. A run that completes meanwhile gets one new version of its row instead of two, and
 * never an entry in the index of timers.
 */
final class PostgresOpenClaim implements OpenClaim {
    private static final Duration SHORTEST_PATIENCE = Duration.ofSeconds(1);

    private final Database database;
    private final Trips trips;
    private final OpenTransaction transaction;
    private final String transactionId;
    private final ClaimRequest request;
    private final Claimed claimed;
    private final Consumer<List<Write.Finish>> onKept;
    private final Runnable onLost;

    /**
     * @param onKept told of the ends, after the commit
     * @param onLost told when the runs are free again
     */
    PostgresOpenClaim(
            Database database,
            Trips trips,
            OpenTransaction transaction,
            PostgresClaims.Claim claim,
            Consumer<List<Write.Finish>> onKept,
            Runnable onLost) {
        this.database = database;
        this.trips = trips;
        this.transaction = transaction;
        this.request = claim.request();
        this.claimed = claim.claimed();
        this.transactionId = String.valueOf(claim.transaction());
        this.onKept = onKept;
        this.onLost = onLost;
    }

    static void lock(Database database, Connection connection, PostgresClaims.Claim claim) throws SQLException {
        // As the statement that claims runs (PostgresClaims), which says why, but for what it does to them.
        // patience: a worker that is stopped or cut off keeps the runs for as long as its lease would, or a second.
        // due: without steps, which only a run can have that was claimed before; with such a run the claim is given up.
        // transaction: it has one since it locked runs, which the count before it makes sure of.
        var sql = """
                WITH given AS MATERIALIZED (
                         SELECT CAST(:namespace AS text) AS namespace,
                                CAST(:types AS text[]) AS types,
                                CAST(:prefixes AS text[]) AS prefixes,
                                CAST(:versions AS text[]) AS versions,
                                CAST(:several AS boolean) AS several,
                                CAST(:limit AS bigint) AS runs,
                                clock_timestamp() AS now,
                                set_config('idle_in_transaction_session_timeout', :patience, true) AS patience),
                     span AS MATERIALIZED (
                         SELECT u.queue,
                                u.highest,
                                u.lowest,
                                timestamptz 'epoch' + u.since * interval '1 microsecond' AS since
                           FROM unnest(
                                    (SELECT CAST(:queues AS text[])),
                                    (SELECT CAST(:highest AS integer[])),
                                    (SELECT CAST(:lowest AS integer[])),
                                    (SELECT CAST(:since AS bigint[])))
                             AS u (queue, highest, lowest, since)),
                     share AS MATERIALIZED (
                         SELECT best.queue, best.highest, best.lowest, best.since, count(*) AS runs
                           FROM (SELECT span.*
                                   FROM given
                                  CROSS JOIN span
                                  CROSS JOIN LATERAL (
                                        SELECT priority, due_at, run_id
                                          FROM steadwork.run
                                         WHERE shard = :shard
                                           AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                           AND hashtextextended(queue, 0) = hashtextextended(span.queue, 0)
                                           AND namespace = given.namespace
                                           AND queue = span.queue
                                           AND priority <= span.highest
                                           AND priority >= span.lowest
                                           AND due_at >= span.since
                                           AND status = 'PENDING'
                                           AND deleted_at IS NULL
                                           AND (type = ANY(given.types)
                                                OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                            WHERE starts_with(type, p.prefix)))
                                           AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                         ORDER BY priority DESC, due_at, run_id
                                         LIMIT given.runs) AS head
                                  WHERE given.several
                                  ORDER BY head.priority DESC, head.due_at, head.run_id
                                  LIMIT (SELECT runs FROM given)) AS best
                          GROUP BY best.queue, best.highest, best.lowest, best.since
                         UNION ALL
                         SELECT span.*, given.runs
                           FROM given
                          CROSS JOIN span
                          WHERE NOT given.several),
                     due AS MATERIALIZED (
                         SELECT head.*
                           FROM given
                          CROSS JOIN share
                          CROSS JOIN LATERAL (
                                SELECT due_at AS ready_since,
                                       run_id,
                                       type,
                                       queue,
                                       priority,
                                       lease_epoch + 1 AS lease_epoch,
                                       attempt,
                                       retry,
                                       deadline,
                                       started_at,
                                       lost_leases,
                                       cancel_requested_at IS NOT NULL AS cancel_requested,
                                       parent_run_id,
                                       parent_step,
                                       depth,
                                       inbox,
                                       compensates IS NOT NULL AS compensates,
                                       input_type,
                                       input
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                   AND hashtextextended(queue, 0) = hashtextextended(share.queue, 0)
                                   AND namespace = given.namespace
                                   AND queue = share.queue
                                   AND priority <= share.highest
                                   AND priority >= share.lowest
                                   AND due_at >= share.since
                                   AND status = 'PENDING'
                                   AND deleted_at IS NULL
                                   AND (type = ANY(given.types)
                                        OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                    WHERE starts_with(type, p.prefix)))
                                   AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                 ORDER BY priority DESC, due_at, run_id
                                 LIMIT share.runs
                                   FOR UPDATE SKIP LOCKED) AS head
                          LIMIT (SELECT runs FROM given))
                SELECT now,
                       CASE WHEN several THEN coalesce((SELECT CAST(sum(runs) AS bigint) FROM share), 0) END AS waiting,
                       (SELECT count(*) FROM due) AS locked,
                       CAST(pg_current_xact_id_if_assigned() AS text) AS transaction,
                       NULL AS ready_since,
                       NULL AS run_id,
                       NULL AS type,
                       NULL AS queue,
                       NULL AS priority,
                       NULL AS lease_epoch,
                       NULL AS attempt,
                       NULL AS retry,
                       NULL AS deadline,
                       NULL AS started_at,
                       NULL AS lost_leases,
                       NULL AS cancel_requested,
                       NULL AS relative,
                       NULL AS parent_step,
                       NULL AS depth,
                       NULL AS inbox,
                       NULL AS compensates,
                       NULL AS payload_type,
                       NULL AS payload,
                       CAST(NULL AS text) AS name
                  FROM given
                UNION ALL
                SELECT NULL, NULL, NULL, NULL, due.*, NULL
                  FROM due
                """;
        var values = claim.columns()
                .with("patience", Long.toString(millis(claim.request().lease())))
                .values();
        // Its statements are written so that one plan fits all of them: Postgres need not find out by making five.
        var pipeline = new Pipeline(database);
        pipeline.addUpdate("SET LOCAL plan_cache_mode = force_generic_plan", Map.of(), count -> {});
        pipeline.add(sql, values, claim::readOpen).run(connection);
    }

    /** As the setting takes it. */
    private static long millis(Duration lease) {
        return Math.max(SHORTEST_PATIENCE.toMillis(), Math.min(lease.toMillis(), Integer.MAX_VALUE));
    }

    @Override
    public Claimed claimed() {
        return claimed;
    }

    @Override
    public Set<RunId> keep(List<Write.Finish> ends) {
        var others = others(ends);
        var kept = transaction.isOpen() ? keepAll(ends, others) : keepThoseLeft(ends, others);
        onKept.accept(ends.stream().filter(end -> kept.contains(end.run())).toList());
        return kept;
    }

    private Set<RunId> keepAll(List<Write.Finish> ends, List<ClaimedRun> others) {
        try {
            transaction.run(connection -> {
                int changed = change(connection, ends, others);
                if (changed != claimed.runs().size()) { // they are locked, so all of them are as they were
                    throw new IllegalStateException("%d of %d runs of an open claim could be changed; nothing is kept."
                            .formatted(changed, claimed.runs().size()));
                }
                return changed;
            });
            transaction.commit();
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
        transaction.close();
        return ids();
    }

    private Set<RunId> ids() {
        return claimed.runs().stream().map(ClaimedRun::id).collect(Collectors.toSet());
    }

    /** The runs are no longer locked, or they were kept and only the answer was lost. */
    private Set<RunId> keepThoseLeft(List<Write.Finish> ends, List<ClaimedRun> others) {
        return trips.inTransaction(connection -> {
            if (isCommitted(connection)) {
                return ids();
            }
            var kept = new HashSet<RunId>();
            for (var end : ends) {
                if (change(connection, List.of(end), List.of()) == 1) {
                    kept.add(end.run());
                }
            }
            for (var run : others) {
                if (change(connection, List.of(), List.of(run)) == 1) {
                    kept.add(run.id());
                }
            }
            return kept;
        });
    }

    private boolean isCommitted(Connection connection) throws SQLException {
        var sql = """
                SELECT CAST(pg_xact_status(CAST(CAST(:transaction AS text) AS xid8)) AS varchar(20)) AS status
                """;
        var status = new String[1];
        new Pipeline(database)
                .add(sql, Map.of("transaction", transactionId), row -> status[0] = row.getString("status"))
                .run(connection);
        if ("in progress".equals(status[0])) {
            throw new Unavailable("The database has not noticed yet that a connection was lost; try again.", null);
        }
        return "committed".equals(status[0]);
    }

    /** How many were changed: each that is as it was when it was locked. */
    private int change(Connection connection, List<Write.Finish> ends, List<ClaimedRun> others) throws SQLException {
        var changed = new AtomicInteger();
        var pipeline = new Pipeline(database);
        addEnds(pipeline, ends, changed::addAndGet);
        addLeases(pipeline, others, changed::addAndGet);
        pipeline.run(connection);
        return changed.get();
    }

    private List<ClaimedRun> others(List<Write.Finish> ends) {
        var ended = ends.stream().map(Write.Finish::run).collect(Collectors.toSet());
        return claimed.runs().stream().filter(run -> !ended.contains(run.id())).toList();
    }

    private void addEnds(Pipeline pipeline, List<Write.Finish> ends, Pipeline.CountReader changed) {
        // As PostgresMoves ends plain runs. The clock: the transaction began before the runs did.
        // BETWEEN: by = the planner would know that run_ready holds them, and might read all of it.
        var sql = """
                UPDATE steadwork.run AS r
                   SET status = 'COMPLETED',
                       lease_epoch = u.epoch,
                       started_at = coalesce(r.started_at, timestamptz 'epoch' + :began * interval '1 microsecond'),
                       output_type = u.output_type,
                       output = u.output,
                       error = NULL,
                       finished_at = u.now,
                       updated_at = u.now,
                       due_at = NULL
                  FROM (SELECT unnest((SELECT CAST(:runs AS uuid[]))) AS run_id,
                               unnest((SELECT CAST(:epochs AS bigint[]))) AS epoch,
                               unnest((SELECT CAST(:outputTypes AS text[]))) AS output_type,
                               unnest((SELECT CAST(:outputs AS bytea[]))) AS output,
                               generate_series(1, (SELECT CAST(:count AS integer))) AS n,
                               (SELECT clock_timestamp()) AS now) AS u
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND u.epoch BETWEEN 0 AND 9223372036854775807
                   AND r.lease_epoch = u.epoch - 1
                   AND r.status BETWEEN 'PENDING' AND 'PENDING'
                   AND r.deleted_at IS NULL
                   AND r.cancel_requested_at IS NULL
                """;
        if (ends.isEmpty()) {
            return;
        }
        var values = Columns.of(ends)
                .with("shard", Shards.ONLY)
                .with("began", Columns.micros(claimed.now()))
                .with("count", ends.size())
                .uuids("runs", end -> end.run().uuid())
                .longs("epochs", Write.Finish::epoch)
                .texts("outputTypes", end -> Rows.payloadType(end.output()))
                .bytes("outputs", end -> Rows.payloadBytes(end.output()))
                .values();
        pipeline.addUpdate(sql, values, changed);
    }

    private void addLeases(Pipeline pipeline, List<ClaimedRun> runs, Pipeline.CountReader changed) {
        // As a claim would leave them; BETWEEN as above. A limit that was set meanwhile has counted what was RUNNING.
        var sql = """
                UPDATE steadwork.run AS r
                   SET status = 'RUNNING',
                       lease_epoch = u.epoch,
                       worker = :worker,
                       due_at = clock.now + :lease * interval '1 microsecond',
                       started_at = coalesce(r.started_at, timestamptz 'epoch' + :began * interval '1 microsecond'),
                       updated_at = clock.now,
                       limited = CASE WHEN EXISTS (SELECT
                                                     FROM steadwork.queue_limit AS l
                                                    WHERE l.shard = r.shard
                                                      AND l.namespace = r.namespace
                                                      AND l.queue = r.queue) THEN true ELSE r.limited END
                  FROM (SELECT clock_timestamp() AS now) AS clock
                 CROSS JOIN unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[]))) WITH ORDINALITY
                    AS u (run_id, epoch, n)
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND r.lease_epoch = u.epoch - 1
                   AND r.status BETWEEN 'PENDING' AND 'PENDING'
                   AND r.deleted_at IS NULL
                """;
        if (runs.isEmpty()) {
            return;
        }
        var values = Columns.of(runs)
                .with("shard", Shards.ONLY)
                .with("worker", request.worker())
                .with("lease", Columns.micros(request.lease()))
                .with("began", Columns.micros(claimed.now()))
                .uuids("runs", run -> run.id().uuid())
                .longs("epochs", ClaimedRun::epoch)
                .values();
        pipeline.addUpdate(sql, values, changed);
    }

    @Override
    public void close() {
        if (transaction.isOpen()) {
            transaction.close();
            onLost.run();
        }
    }
}
