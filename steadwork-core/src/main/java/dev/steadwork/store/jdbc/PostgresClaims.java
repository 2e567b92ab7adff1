package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Hands out PENDING runs, with their recorded steps, in one statement. */
final class PostgresClaims {
    private static final int TRIES = 5;

    private final Database database;

    PostgresClaims(Database database) {
        this.database = database;
    }

    Claimed claim(Connection connection, ClaimRequest request) throws SQLException {
        var claim = claimOnce(connection, request);
        // Others took all that was best, while less urgent runs of other queues may still be there.
        for (int tries = 1; claim.missedAll() && tries < TRIES; tries++) {
            claim = claimOnce(connection, request);
        }
        return new Claimed(claim.now, claim.runs);
    }

    private Claim claimOnce(Connection connection, ClaimRequest request) throws SQLException {
        // given: hides the values from the planner, so that one plan fits all claims and is kept. Its clock is read
        //     after the snapshot was taken (now() is read before), so no run is claimed before it was created.
        // share: how many of the best runs wait in which queue; a single queue has them all.
        // due: locks so many of each queue, stepping over what others hold. A run that was claimed and handed back, or
        //     whose child ended, after this statement began may have steps that are not seen here: left for the next.
        // claimed: BETWEEN looks selective to the planner, which then looks up each run by its primary key, whatever it
        //     knows or does not know of the table.
        // In the result a run stands before its steps.
        var sql = """
                WITH given AS MATERIALIZED (
                         SELECT CAST(:namespace AS text) AS namespace,
                                CAST(:worker AS text) AS worker,
                                CAST(:queues AS text[]) AS queues,
                                CAST(:types AS text[]) AS types,
                                CAST(:prefixes AS text[]) AS prefixes,
                                CAST(:versions AS text[]) AS versions,
                                CAST(:limit AS bigint) AS runs,
                                clock.now,
                                clock.now + :lease * interval '1 microsecond' AS lease_end
                           FROM (SELECT clock_timestamp() AS now) AS clock),
                     share AS MATERIALIZED (
                         SELECT best.queue, count(*) AS runs
                           FROM (SELECT q.queue
                                   FROM given
                                  CROSS JOIN unnest(given.queues) AS q (queue)
                                  CROSS JOIN LATERAL (
                                        SELECT priority, due_at, run_id
                                          FROM steadwork.run
                                         WHERE shard = :shard
                                           AND namespace = given.namespace
                                           AND queue = q.queue
                                           AND status = 'PENDING'
                                           AND deleted_at IS NULL
                                           AND (type = ANY(given.types)
                                                OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                            WHERE starts_with(type, p.prefix)))
                                           AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                         ORDER BY priority DESC, due_at, run_id
                                         LIMIT given.runs) AS head
                                  WHERE cardinality(given.queues) > 1
                                  ORDER BY head.priority DESC, head.due_at, head.run_id
                                  LIMIT (SELECT runs FROM given)) AS best
                          GROUP BY best.queue
                         UNION ALL
                         SELECT queues[1], runs
                           FROM given
                          WHERE cardinality(queues) = 1),
                     due AS MATERIALIZED (
                         SELECT head.run_id,
                                row_number() OVER (ORDER BY head.priority DESC, head.due_at, head.run_id) AS n
                           FROM given
                          CROSS JOIN share
                          CROSS JOIN LATERAL (
                                SELECT run_id, priority, due_at, lease_epoch, inbox
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND namespace = given.namespace
                                   AND queue = share.queue
                                   AND status = 'PENDING'
                                   AND deleted_at IS NULL
                                   AND (type = ANY(given.types)
                                        OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                    WHERE starts_with(type, p.prefix)))
                                   AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                 ORDER BY priority DESC, due_at, run_id
                                 LIMIT share.runs
                                   FOR UPDATE SKIP LOCKED) AS head
                          WHERE head.lease_epoch = 0
                             OR (head.lease_epoch, coalesce(head.inbox, 0)) = (
                                SELECT seen.lease_epoch, coalesce(seen.inbox, 0)
                                  FROM steadwork.run AS seen
                                 WHERE seen.shard = :shard
                                   AND seen.run_id = head.run_id)),
                     claimed AS (
                         UPDATE steadwork.run AS r
                            SET status = 'RUNNING',
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
                         RETURNING due.n, r.run_id, r.type, r.queue, r.priority, r.lease_epoch, r.attempt, r.retry, r.deadline,
                                   r.started_at, r.lost_leases, r.cancel_requested_at IS NOT NULL AS cancel_requested,
                                   r.parent_run_id, r.parent_step, r.depth, r.inbox, r.compensates IS NOT NULL AS compensates,
                                   r.input_type, r.input)
                SELECT given.now,
                       cardinality(given.queues) > 1 AND EXISTS (SELECT FROM share) AS wanted,
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
                  FROM given
                  LEFT JOIN claimed AS c ON true
                UNION ALL
                SELECT NULL, NULL, c.n, c.run_id, NULL, NULL, NULL, NULL, s.attempt, NULL, NULL, s.started_at, NULL, NULL,
                       s.child_run_id, NULL, NULL, NULL, NULL, s.output_type, s.output, s.name, s.occurrence, s.position, s.kind, s.status, s.error, s.finished_at,
                       s.wake_at
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
        var types = request.typePrefixes().isEmpty() ? request.types() : List.<String>of();
        var values = Columns.of(List.of())
                .with("shard", Shards.ONLY)
                .with("namespace", request.namespace())
                .with("worker", request.worker())
                .with("queues", Columns.textArray(request.queues()))
                .with("types", Columns.textArray(types))
                .with("prefixes", Columns.textArray(request.typePrefixes()))
                .with("versions", Columns.textArray(request.versions()))
                .with("limit", request.limit())
                .with("lease", Columns.micros(request.lease()))
                .values();
        var claim = new Claim();
        new Pipeline(database).add(sql, values, claim::read).run(connection);
        return claim;
    }

    /** What one statement handed out. */
    static final class Claim {
        private final List<ClaimedRun> runs = new ArrayList<>();
        private List<StepRecord> steps = List.of();
        private Instant now = Instant.EPOCH;
        private boolean wanted;

        boolean missedAll() {
            return wanted && runs.isEmpty();
        }

        List<ClaimedRun> runs() {
            return runs;
        }

        void read(ResultSet row) throws SQLException {
            if (row.getString("name") != null) {
                steps.add(step(row));
                return;
            }
            if (runs.isEmpty()) {
                now = row.getObject("now", OffsetDateTime.class).toInstant();
                wanted = row.getBoolean("wanted");
            }
            var run = row.getObject("run_id", UUID.class);
            if (run != null) {
                runs.add(run(row, new RunId(run)));
            }
        }

        private ClaimedRun run(ResultSet row, RunId run) throws SQLException {
            long epoch = row.getLong("lease_epoch");
            steps = epoch == 1 ? List.of() : new ArrayList<>();
            var startedAt = time(row, "started_at");
            return new ClaimedRun(
                    run,
                    row.getString("type"),
                    row.getString("queue"),
                    row.getInt("priority"),
                    epoch,
                    row.getInt("attempt"),
                    Rows.payload(row.getString("payload_type"), row.getBytes("payload")),
                    Rows.retry(row.getString("retry")),
                    time(row, "deadline"),
                    startedAt == null ? now : startedAt,
                    row.getInt("lost_leases"),
                    row.getBoolean("cancel_requested"),
                    parent(row),
                    row.getInt("depth"),
                    row.getInt("inbox"),
                    row.getBoolean("compensates"),
                    steps);
        }

        private static StepRecord step(ResultSet row) throws SQLException {
            return new StepRecord(
                    new StepRecord.Key(row.getString("name"), row.getInt("occurrence"), row.getInt("position")),
                    StepKind.valueOf(row.getString("kind")),
                    StepStatus.valueOf(row.getString("status")),
                    row.getInt("attempt"),
                    Payload.NONE,
                    Rows.payload(row.getString("payload_type"), row.getBytes("payload")),
                    Rows.error(row.getString("error")),
                    time(row, "started_at"),
                    time(row, "finished_at"),
                    time(row, "wake_at"),
                    relative(row));
        }

        private static RunInfo.@Nullable Parent parent(ResultSet row) throws SQLException {
            var parent = relative(row);
            return parent == null ? null : new RunInfo.Parent(parent, row.getString("parent_step"));
        }

        /** The parent of a run, the child of a step. */
        private static @Nullable RunId relative(ResultSet row) throws SQLException {
            var id = row.getObject("relative", UUID.class);
            return id == null ? null : new RunId(id);
        }

        private static @Nullable Instant time(ResultSet row, String column) throws SQLException {
            var time = row.getObject(column, OffsetDateTime.class);
            return time == null ? null : time.toInstant();
        }
    }
}
