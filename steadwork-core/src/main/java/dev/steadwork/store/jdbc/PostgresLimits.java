package dev.steadwork.store.jdbc;

import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the runs of limited queues. One round trip locks the limit and takes runs, so that no client ever holds the lock
 * while others wait for its network; a second one fetches what the worker needs of them, which is of any size.
 */
final class PostgresLimits {
    private final Database database;

    PostgresLimits(Database database) {
        this.database = database;
    }

    Optional<Claimed> claim(Connection connection, ClaimRequest request) throws SQLException {
        var take = new Take();
        var pipeline = new Pipeline(database);
        addLock(pipeline, request);
        addTake(pipeline, request, take);
        pipeline.run(connection);
        var now = take.now;
        if (now == null) {
            return Optional.empty();
        }
        var runs = take.runs.isEmpty() ? List.<ClaimedRun>of() : fetch(connection, take.runs, now);
        var heldBack = take.heldBack ? new Claimed.HeldBack(take.retryAfter) : null;
        return Optional.of(new Claimed(now, runs, heldBack));
    }

    private record Held(UUID run, long epoch) {}

    /** What the limit allowed. */
    private static final class Take {
        private final List<Held> runs = new ArrayList<>();
        private @Nullable Instant now;
        private boolean heldBack;
        private @Nullable Duration retryAfter;

        void read(ResultSet row) throws SQLException {
            now = row.getObject("now", OffsetDateTime.class).toInstant();
            heldBack = row.getBoolean("held_back");
            var nextStart = row.getObject("next_start", OffsetDateTime.class);
            retryAfter = nextStart == null ? null : Duration.between(now, nextStart.toInstant());
            var run = row.getObject("run_id", UUID.class);
            if (run != null) {
                runs.add(new Held(run, row.getLong("lease_epoch")));
            }
        }
    }

    /** Whoever claims under this limit waits here, so that the next statement sees all that was claimed before. */
    private static void addLock(Pipeline pipeline, ClaimRequest request) {
        var sql = """
                SELECT 1 AS locked
                  FROM steadwork.queue_limit
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   FOR UPDATE
                """;
        var values = Map.<String, Object>of(
                "shard", Shards.ONLY,
                "namespace", request.namespace(),
                "queue", request.queues().get(0));
        pipeline.add(sql, values, row -> {});
    }

    private static void addTake(Pipeline pipeline, ClaimRequest request, Take take) {
        // given: its clock is read after the lock was waited for and the snapshot taken; now() is read before.
        // busy: a deleted run counts as long as its worker lives: nobody promotes it.
        // walk: once around the keys that wait, from the one after the last turn; '' stands for runs without a key.
        //     The key is looked for by a range: only run_ready_key has that order, so no other index is taken for it.
        // due: the walk ends as soon as there is enough.
        // look: runs without a key are found among the first hundred that wait.
        // unkeyed: BETWEEN, because by = the planner would know that run_ready holds them, and might read all of it.
        // claimed: BETWEEN as in the claim of other queues.
        var sql = """
                WITH RECURSIVE
                     given AS MATERIALIZED (
                         SELECT namespace,
                                queue,
                                max_running,
                                max_per_key,
                                rate_count,
                                next_key,
                                CAST(:worker AS text) AS worker,
                                CAST(:types AS text[]) AS types,
                                CAST(:prefixes AS text[]) AS prefixes,
                                CAST(:versions AS text[]) AS versions,
                                CAST(:limit AS bigint) AS runs,
                                clock.now,
                                clock.now + :lease * interval '1 microsecond' AS lease_end,
                                rate_period * interval '1 microsecond' AS rate_period,
                                clock.now - rate_period * interval '1 microsecond' AS rate_since
                           FROM steadwork.queue_limit
                          CROSS JOIN (SELECT clock_timestamp() AS now) AS clock
                          WHERE shard = :shard
                            AND namespace = :namespace
                            AND queue = :queue),
                     busy AS MATERIALIZED (
                         SELECT running.concurrency_key, count(*) AS runs
                           FROM given
                          CROSS JOIN LATERAL (
                                SELECT concurrency_key
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND namespace = given.namespace
                                   AND queue = given.queue
                                   AND status = 'RUNNING'
                                   AND limited
                                   AND (deleted_at IS NULL OR due_at > given.now)
                                 ORDER BY concurrency_key
                                OFFSET 0) AS running
                          GROUP BY running.concurrency_key),
                     recent AS MATERIALIZED (
                         SELECT newest.total,
                                newest.total - oldest.total + oldest.starts AS starts,
                                oldest.started_at
                           FROM given
                          CROSS JOIN LATERAL (
                                SELECT total
                                  FROM steadwork.queue_start
                                 WHERE shard = :shard
                                   AND namespace = given.namespace
                                   AND queue = given.queue
                                   AND started_at > given.rate_since
                                 ORDER BY started_at DESC, total DESC
                                 LIMIT 1) AS newest
                          CROSS JOIN LATERAL (
                                SELECT total, starts, started_at
                                  FROM steadwork.queue_start
                                 WHERE shard = :shard
                                   AND namespace = given.namespace
                                   AND queue = given.queue
                                   AND started_at > given.rate_since
                                 ORDER BY started_at, total
                                 LIMIT 1) AS oldest),
                     allowed AS MATERIALIZED (
                         SELECT greatest(
                                    least(
                                        runs,
                                        max_running - coalesce((SELECT sum(busy.runs) FROM busy), 0),
                                        rate_count - coalesce((SELECT starts FROM recent), 0)),
                                    0) AS runs,
                                1000 + (SELECT count(*) FROM busy WHERE busy.runs >= max_per_key) AS keys
                           FROM given),
                     walk (n, concurrency_key, around) AS (
                         SELECT CAST(0 AS bigint), next_key, false
                           FROM given
                          WHERE max_per_key IS NOT NULL
                         UNION ALL
                         SELECT walk.n + 1, following.concurrency_key, following.around
                           FROM walk
                          CROSS JOIN given
                          CROSS JOIN allowed
                          CROSS JOIN LATERAL (
                                SELECT either.concurrency_key, either.around
                                  FROM (SELECT waiting.concurrency_key, walk.around
                                          FROM (SELECT concurrency_key
                                                  FROM steadwork.run
                                                 WHERE shard = :shard
                                                   AND namespace = given.namespace
                                                   AND queue = given.queue
                                                   AND status = 'PENDING'
                                                   AND deleted_at IS NULL
                                                   AND concurrency_key IS NOT NULL
                                                   AND concurrency_key > walk.concurrency_key
                                                 ORDER BY concurrency_key
                                                 LIMIT 1) AS waiting
                                        UNION ALL
                                        SELECT '', true
                                         WHERE NOT walk.around) AS either
                                 ORDER BY either.around
                                 LIMIT 1) AS following
                          WHERE allowed.runs > 0
                            AND walk.n < allowed.keys
                            AND (NOT following.around OR following.concurrency_key <= given.next_key)),
                     due AS MATERIALIZED (
                         SELECT head.run_id,
                                head.turn_key,
                                row_number() OVER (ORDER BY head.turn, head.priority DESC, head.due_at, head.run_id) AS n
                           FROM (SELECT CAST(0 AS bigint) AS turn, '' AS turn_key, best.run_id, best.priority, best.due_at
                                   FROM given
                                  CROSS JOIN allowed
                                  CROSS JOIN LATERAL (
                                        SELECT run_id, priority, due_at
                                          FROM steadwork.run
                                         WHERE shard = :shard
                                           AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                           AND hashtextextended(queue, 0) = hashtextextended(given.queue, 0)
                                           AND namespace = given.namespace
                                           AND queue = given.queue
                                           AND status = 'PENDING'
                                           AND deleted_at IS NULL
                                           AND (type = ANY(given.types)
                                                OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                            WHERE starts_with(type, p.prefix)))
                                           AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                         ORDER BY priority DESC, due_at, run_id
                                         LIMIT allowed.runs
                                           FOR UPDATE SKIP LOCKED) AS best
                                  WHERE given.max_per_key IS NULL
                                 UNION ALL
                                 (SELECT walk.n, walk.concurrency_key, best.run_id, best.priority, best.due_at
                                    FROM walk
                                   CROSS JOIN given
                                   CROSS JOIN allowed
                                   CROSS JOIN LATERAL (
                                         SELECT keyed.run_id, keyed.priority, keyed.due_at
                                           FROM (SELECT run_id, priority, due_at
                                                   FROM steadwork.run
                                                  WHERE shard = :shard
                                                    AND namespace = given.namespace
                                                    AND queue = given.queue
                                                    AND status = 'PENDING'
                                                    AND deleted_at IS NULL
                                                    AND concurrency_key IS NOT NULL
                                                    AND concurrency_key >= walk.concurrency_key
                                                    AND concurrency_key <= walk.concurrency_key
                                                    AND (type = ANY(given.types)
                                                         OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                                     WHERE starts_with(type, p.prefix)))
                                                    AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                                  ORDER BY concurrency_key, priority DESC, due_at, run_id
                                                  LIMIT greatest(
                                                            given.max_per_key - coalesce(
                                                                (SELECT busy.runs
                                                                   FROM busy
                                                                  WHERE busy.concurrency_key = walk.concurrency_key),
                                                                0),
                                                            0)
                                                    FOR UPDATE SKIP LOCKED) AS keyed
                                         UNION ALL
                                         SELECT unkeyed.run_id, unkeyed.priority, unkeyed.due_at
                                           FROM (SELECT run_id, concurrency_key, type, version
                                                   FROM steadwork.run
                                                  WHERE shard = :shard
                                                    AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                                    AND hashtextextended(queue, 0) = hashtextextended(given.queue, 0)
                                                    AND namespace = given.namespace
                                                    AND queue = given.queue
                                                    AND status = 'PENDING'
                                                    AND deleted_at IS NULL
                                                  ORDER BY priority DESC, due_at, run_id
                                                  LIMIT 100) AS look
                                          CROSS JOIN LATERAL (
                                                SELECT run_id, priority, due_at
                                                  FROM steadwork.run
                                                 WHERE shard = :shard
                                                   AND run_id = look.run_id
                                                   AND status BETWEEN 'PENDING' AND 'PENDING'
                                                   AND deleted_at IS NULL
                                                   FOR UPDATE SKIP LOCKED) AS unkeyed
                                          WHERE walk.concurrency_key = ''
                                            AND look.concurrency_key IS NULL
                                            AND (look.type = ANY(given.types)
                                                 OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                             WHERE starts_with(look.type, p.prefix)))
                                            AND (cardinality(given.versions) = 0 OR look.version = ANY(given.versions))) AS best
                                   WHERE walk.n > 0
                                   LIMIT (SELECT runs FROM allowed))) AS head),
                     claimed AS (
                         UPDATE steadwork.run AS r
                            SET status = 'RUNNING',
                                limited = true,
                                lease_epoch = r.lease_epoch + 1,
                                worker = given.worker,
                                due_at = given.lease_end,
                                started_at = coalesce(r.started_at, given.now),
                                updated_at = given.now
                           FROM due
                          CROSS JOIN given
                          WHERE r.shard = :shard
                            AND r.run_id = due.run_id
                            AND due.n BETWEEN 1 AND 1000000
                         RETURNING due.n, r.run_id, r.lease_epoch),
                     turned AS (
                         UPDATE steadwork.queue_limit AS l
                            SET next_key = turn.last_key
                           FROM (SELECT coalesce(
                                            (SELECT turn_key FROM due ORDER BY n DESC LIMIT 1),
                                            (SELECT concurrency_key FROM walk ORDER BY n DESC LIMIT 1)) AS last_key) AS turn
                          WHERE l.shard = :shard
                            AND l.namespace = :namespace
                            AND l.queue = :queue
                            AND l.max_per_key IS NOT NULL
                            AND l.next_key <> turn.last_key),
                     forgotten AS (
                         DELETE FROM steadwork.queue_start AS s
                          USING given
                          WHERE s.shard = :shard
                            AND s.namespace = :namespace
                            AND s.queue = :queue
                            AND s.started_at <= given.rate_since),
                     started AS (
                         INSERT INTO steadwork.queue_start (shard, namespace, queue, started_at, total, starts)
                         SELECT CAST(:shard AS smallint),
                                given.namespace,
                                given.queue,
                                given.now,
                                coalesce((SELECT total FROM recent), 0) + taken.runs,
                                taken.runs
                           FROM given
                          CROSS JOIN (SELECT count(*) AS runs FROM claimed) AS taken
                          WHERE given.rate_count IS NOT NULL
                            AND taken.runs > 0)
                SELECT given.now,
                       c.run_id,
                       c.lease_epoch,
                       taken.runs < given.runs AND EXISTS (
                           SELECT FROM steadwork.run
                            WHERE shard = :shard
                              AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                              AND hashtextextended(queue, 0) = hashtextextended(given.queue, 0)
                              AND namespace = given.namespace
                              AND queue = given.queue
                              AND status = 'PENDING'
                              AND deleted_at IS NULL
                            ORDER BY priority DESC, due_at, run_id
                           OFFSET taken.runs) AS held_back,
                       CASE WHEN given.rate_count <= coalesce((SELECT starts FROM recent), 0) + taken.runs
                            THEN coalesce((SELECT started_at FROM recent), given.now) + given.rate_period END AS next_start
                  FROM given
                 CROSS JOIN (SELECT count(*) AS runs FROM claimed) AS taken
                  LEFT JOIN claimed AS c ON true
                 ORDER BY c.n
                """;
        var types = request.typePrefixes().isEmpty() ? request.types() : List.<String>of();
        var values = Columns.of(List.of())
                .with("shard", Shards.ONLY)
                .with("namespace", request.namespace())
                .with("queue", request.queues().get(0))
                .with("worker", request.worker())
                .with("types", Columns.textArray(types))
                .with("prefixes", Columns.textArray(request.typePrefixes()))
                .with("versions", Columns.textArray(request.versions()))
                .with("limit", request.limit())
                .with("lease", Columns.micros(request.lease()))
                .values();
        pipeline.add(sql, values, take::read);
    }

    /** The runs that were taken, as a claim of other queues returns them; one that was lost meanwhile is left out. */
    private List<ClaimedRun> fetch(Connection connection, List<Held> held, Instant now) throws SQLException {
        var sql = """
                WITH claimed AS MATERIALIZED (
                         SELECT u.n, r.run_id, r.type, r.queue, r.priority, r.lease_epoch, r.attempt, r.retry, r.deadline,
                                r.started_at, r.lost_leases, r.cancel_requested_at IS NOT NULL AS cancel_requested,
                                r.parent_run_id, r.parent_step, r.depth, r.inbox, r.compensates IS NOT NULL AS compensates,
                                r.input_type, r.input
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[]))) WITH ORDINALITY
                             AS u (run_id, epoch, n)
                           JOIN steadwork.run AS r
                             ON r.shard = :shard
                            AND r.run_id = u.run_id
                            AND u.n BETWEEN 1 AND 1000000
                            AND r.lease_epoch = u.epoch)
                SELECT timestamptz 'epoch' + :now * interval '1 microsecond' AS now,
                       c.n,
                       c.run_id,
                       c.type,
                       c.queue,
                       c.priority,
                       c.lease_epoch,
                       c.attempt,
                       c.retry,
                       c.deadline,
                       c.started_at,
                       c.lost_leases,
                       c.cancel_requested,
                       c.parent_run_id AS relative,
                       c.parent_step,
                       c.depth,
                       c.inbox,
                       c.compensates,
                       c.input_type AS payload_type,
                       c.input AS payload,
                       NULL AS name,
                       NULL AS occurrence,
                       NULL AS position,
                       NULL AS kind,
                       NULL AS status,
                       NULL AS error,
                       NULL AS finished_at,
                       NULL AS wake_at
                  FROM claimed AS c
                UNION ALL
                SELECT NULL, c.n, c.run_id, NULL, NULL, NULL, NULL, s.attempt, NULL, NULL, s.started_at, NULL, NULL,
                       s.child_run_id, NULL, NULL, NULL, NULL, s.output_type, s.output, s.name, s.occurrence, s.position,
                       s.kind, s.status, s.error, s.finished_at, s.wake_at
                  FROM claimed AS c
                 CROSS JOIN LATERAL (
                       SELECT name, occurrence, position, kind, status, attempt, error, started_at, finished_at, wake_at,
                              output_type, output, child_run_id
                         FROM steadwork.step
                        WHERE shard = :shard
                          AND run_id = c.run_id
                       UNION ALL
                       (SELECT DISTINCT ON (name, occurrence)
                               name, occurrence, position, kind, 'RETRYING', attempt, error, started_at, finished_at, NULL,
                               NULL, NULL, NULL
                          FROM steadwork.step_attempt AS a
                         WHERE shard = :shard
                           AND run_id = c.run_id
                           AND NOT EXISTS (
                               SELECT FROM steadwork.step AS s
                                WHERE s.shard = :shard
                                  AND s.run_id = c.run_id
                                  AND s.name = a.name
                                  AND s.occurrence = a.occurrence)
                         ORDER BY name, occurrence, attempt DESC)) AS s
                 WHERE c.lease_epoch > 1
                 ORDER BY n, position NULLS FIRST
                """;
        var values = Columns.of(held)
                .with("shard", Shards.ONLY)
                .with("now", Columns.micros(now))
                .uuids("runs", Held::run)
                .longs("epochs", Held::epoch)
                .values();
        var rows = new ClaimedRows();
        var runs = new ArrayList<ClaimedRun>();
        new Pipeline(database)
                .add(sql, values, row -> {
                    var run = rows.read(row);
                    if (run != null) {
                        runs.add(run);
                    }
                })
                .run(connection);
        return runs;
    }
}
