package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Promotion;
import dev.steadwork.store.Signals;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What time does to runs: due sleepers and expired leases become PENDING, heartbeats put that off. */
final class PostgresTimers {
    private final Database database;
    private final Map<Kind, Floor> floors = new ConcurrentHashMap<>();

    PostgresTimers(Database database) {
        this.database = database;
    }

    /** Looks at the same timers. */
    private record Kind(String namespace, List<String> queues) {}

    /** Up to when none of them is set. As {@link ReadyFloors}: knowledge, not truth. */
    private static final class Floor {
        private final WholeLooks wholeLooks = new WholeLooks();
        private volatile Instant since = Instant.MIN;
    }

    /** What became ready, and in which queues. */
    static final class Promoted {
        private final Set<Integer> topics = new HashSet<>();
        private final List<NewEvent> events = new ArrayList<>();
        private int runs;
        private @Nullable Instant readySince;
        private Instant now = Instant.EPOCH;
        private @Nullable Instant nextDue;

        Promotion promotion() {
            return new Promotion(
                    runs, nextDue == null ? null : isMoreDue() ? Duration.ZERO : Duration.between(now, nextDue));
        }

        private boolean isMoreDue() {
            return nextDue != null && !nextDue.isAfter(now);
        }

        private void add(int more, @Nullable OffsetDateTime since) {
            runs += more;
            if (since != null && (readySince == null || since.toInstant().isBefore(readySince))) {
                readySince = since.toInstant();
            }
        }

        /** The earliest time since which one of them counts as ready; null if none became ready. */
        @Nullable
        Instant readySince() {
            return readySince;
        }

        Set<Integer> topics() {
            return topics;
        }

        /** Those that were lost by their workers. */
        List<NewEvent> events() {
            return events;
        }
    }

    /** Looks before it writes: most of the time nothing is due. What is learnt from it counts once it is committed. */
    Promoted promote(Connection connection, PromoteRequest request) throws SQLException {
        var floor = floorOf(request);
        boolean whole = floor.wholeLooks.areDue();
        long beganNanos = System.nanoTime();
        var promoted = promoteSince(connection, request, whole ? Instant.MIN : floor.since);
        long took = System.nanoTime() - beganNanos;
        if (whole) {
            floor.wholeLooks.took(took, promoted.runs);
        } else {
            floor.wholeLooks.partTook(took);
        }
        return promoted;
    }

    /** Notes where the next look need not begin. */
    void committed(PromoteRequest request, Promoted promoted) {
        var seen = promoted.now.minus(ReadyFloors.MARGIN);
        var nextDue = promoted.nextDue;
        floorOf(request).since = nextDue != null && nextDue.isBefore(seen) ? nextDue : seen;
    }

    private Floor floorOf(PromoteRequest request) {
        if (floors.size() > PostgresClaims.MOST_KINDS) {
            floors.clear();
        }
        return floors.computeIfAbsent(new Kind(request.namespace(), request.queues()), kind -> new Floor());
    }

    private Promoted promoteSince(Connection connection, PromoteRequest request, Instant since) throws SQLException {
        var promoted = new Promoted();
        var look = new Pipeline(database);
        addNextDue(look, values(request, since), promoted);
        look.run(connection);
        var nextDue = promoted.nextDue;
        if (nextDue != null && promoted.isMoreDue()) {
            var values = values(request, nextDue);
            var pipeline = new Pipeline(database);
            addPromotion(pipeline, request.namespace(), values, promoted);
            addNextDue(pipeline, values, promoted);
            pipeline.run(connection);
        }
        return promoted;
    }

    private static Map<String, Object> values(PromoteRequest request, Instant since) {
        return Columns.of(List.of())
                .with("shard", Shards.ONLY)
                .with("namespace", request.namespace())
                .with("queues", Columns.textArray(request.queues()))
                .with("since", Columns.micros(since))
                .with("lookAhead", Columns.micros(request.lookAhead()))
                .with("limit", request.limit())
                .with("executing", Columns.uuidArray(request.executing()))
                .values();
    }

    private static void addPromotion(
            Pipeline pipeline, String namespace, Map<String, Object> values, Promoted promoted) {
        // Raises the epoch of an expired lease in a transaction before the next claim, so that the claim sees all steps
        // that were accepted under the old epoch. Its run is due since it was first claimed: what lost its worker goes
        // before what has not begun. BETWEEN: as in the claim.
        var sql = """
                WITH given AS MATERIALIZED (
                         SELECT CAST(:namespace AS text) AS namespace,
                                CAST(:queues AS text[]) AS queues,
                                CAST(:limit AS bigint) AS runs,
                                timestamptz 'epoch' + :since * interval '1 microsecond' AS since,
                                now() AS now),
                     due AS MATERIALIZED (
                         SELECT expired.run_id, expired.status, row_number() OVER () AS n
                           FROM (SELECT head.run_id, head.status
                                   FROM given
                                  CROSS JOIN unnest(given.queues) AS q (queue)
                                  CROSS JOIN LATERAL (
                                        SELECT run_id, status
                                          FROM steadwork.run
                                         WHERE shard = :shard
                                           AND namespace = given.namespace
                                           AND queue = q.queue
                                           AND status IN ('SLEEPING', 'RUNNING')
                                           AND deleted_at IS NULL
                                           AND due_at >= given.since
                                           AND due_at <= given.now
                                           AND (status = 'SLEEPING' OR run_id NOT IN (SELECT e FROM unnest((SELECT CAST(:executing AS uuid[]))) AS e))
                                         ORDER BY due_at
                                         LIMIT given.runs
                                           FOR UPDATE SKIP LOCKED) AS head
                                  LIMIT (SELECT runs FROM given)) AS expired),
                     promoted AS (
                         UPDATE steadwork.run AS r
                            SET status = 'PENDING',
                                lease_epoch = r.lease_epoch + CASE WHEN r.status = 'RUNNING' THEN 1 ELSE 0 END,
                                lost_leases = r.lost_leases + CASE WHEN r.status = 'RUNNING' THEN 1 ELSE 0 END,
                                due_at = CASE WHEN r.status = 'RUNNING' THEN r.started_at ELSE r.due_at END,
                                worker = NULL,
                                step_name = NULL,
                                step_since = NULL,
                                updated_at = given.now
                           FROM due
                          CROSS JOIN given
                          WHERE r.shard = :shard
                            AND r.run_id = due.run_id
                            AND due.n BETWEEN 1 AND 1000000
                         RETURNING r.queue, r.run_id, r.lease_epoch, r.due_at, due.status)
                SELECT CAST(queue AS varchar(255)) AS queue,
                       CAST(count(*) AS integer) AS runs,
                       min(due_at) AS ready_since,
                       CAST(NULL AS uuid) AS lost,
                       0 AS lease_epoch
                  FROM promoted
                 GROUP BY queue
                UNION ALL
                SELECT CAST(queue AS varchar(255)), 0, NULL, run_id, lease_epoch
                  FROM promoted
                 WHERE status = 'RUNNING'
                """;
        pipeline.add(sql, values, row -> {
            promoted.add(row.getInt("runs"), row.getObject("ready_since", OffsetDateTime.class));
            promoted.topics.add(Signals.topic(namespace, row.getString("queue")));
            var lost = row.getObject("lost", UUID.class);
            if (lost != null) {
                promoted.events.add(NewEvent.lost(new RunId(lost), row.getLong("lease_epoch") - 1));
            }
        });
    }

    private static void addNextDue(Pipeline pipeline, Map<String, Object> values, Promoted promoted) {
        var sql = """
                SELECT now() AS now, min(head.due_at) AS due_at
                  FROM unnest((SELECT CAST(:queues AS text[]))) AS q (queue)
                 CROSS JOIN LATERAL (
                       SELECT due_at
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = (SELECT CAST(:namespace AS text))
                          AND queue = q.queue
                          AND due_at >= (SELECT timestamptz 'epoch' + :since * interval '1 microsecond')
                          AND due_at <= (SELECT now() + :lookAhead * interval '1 microsecond')
                          AND status IN ('SLEEPING', 'RUNNING')
                          AND deleted_at IS NULL
                          AND (status = 'SLEEPING' OR run_id NOT IN (SELECT e FROM unnest((SELECT CAST(:executing AS uuid[]))) AS e))
                        ORDER BY due_at
                        LIMIT 1) AS head
                """;
        pipeline.add(sql, values, row -> {
            var due = row.getObject("due_at", OffsetDateTime.class);
            promoted.now = row.getObject("now", OffsetDateTime.class).toInstant();
            promoted.nextDue = due == null ? null : due.toInstant();
        });
    }

    /** @param version where to put that of the namespaces' settings */
    HeartbeatAnswer heartbeat(Connection connection, Heartbeat heartbeat, long[] version) throws SQLException {
        var held = heartbeat.held().stream()
                .sorted((one, other) -> one.run().compareTo(other.run()))
                .toList();
        var requests = new HashMap<RunId, HeartbeatAnswer.Requests>();
        var alive = new Alive();
        var pipeline = new Pipeline(database);
        addWorker(pipeline, heartbeat, alive, version);
        addLeases(pipeline, held, requests);
        pipeline.run(connection);
        return new HeartbeatAnswer(alive.now, alive.entry, requests);
    }

    /** What the registry answers to a sign of life. */
    private static final class Alive {
        private Instant now = Instant.EPOCH;
        private HeartbeatAnswer.Entry entry = HeartbeatAnswer.Entry.MISSING;
    }

    private static void addWorker(Pipeline pipeline, Heartbeat heartbeat, Alive alive, long[] version) {
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now),
                     alive AS (
                         UPDATE steadwork.worker AS w
                            SET status = CASE WHEN w.drain_requested_at IS NULL THEN :status ELSE 'DRAINING' END,
                                heartbeat_at = clock.now,
                                active = :active,
                                completed = w.completed + :completed,
                                failed = w.failed + :failed
                           FROM clock
                          WHERE w.namespace = :namespace
                            AND w.worker_id = :worker
                         RETURNING w.drain_requested_at IS NOT NULL AS drain)
                SELECT clock.now,
                       alive.drain IS NULL AS missing,
                       alive.drain,
                       (SELECT coalesce(max(version), 0) FROM steadwork.namespace) AS version
                  FROM clock
                  LEFT JOIN alive ON true
                """;
        var values = Columns.of(List.of())
                .with("namespace", heartbeat.namespace())
                .with("worker", heartbeat.worker())
                .with("status", heartbeat.draining() ? "DRAINING" : "ONLINE")
                .with("active", heartbeat.active())
                .with("completed", heartbeat.completed())
                .with("failed", heartbeat.failed())
                .values();
        pipeline.add(sql, values, row -> {
            alive.now = row.getObject("now", OffsetDateTime.class).toInstant();
            alive.entry = HeartbeatAnswer.Entry.of(row.getBoolean("missing"), row.getBoolean("drain"));
            version[0] = row.getLong("version");
        });
    }

    private static void addLeases(
            Pipeline pipeline, List<Heartbeat.Held> held, Map<RunId, HeartbeatAnswer.Requests> requests) {
        // BETWEEN: as in the claim.
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now),
                     held AS MATERIALIZED (
                         SELECT u.run_id,
                                u.epoch,
                                u.step_name,
                                clock.now + u.lease * interval '1 microsecond' AS lease_end,
                                clock.now - u.step_for * interval '1 microsecond' AS step_since,
                                u.n
                           FROM clock
                          CROSS JOIN unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:leases AS bigint[])),
                                    (SELECT CAST(:steps AS text[])),
                                    (SELECT CAST(:stepFors AS bigint[]))) WITH ORDINALITY
                             AS u (run_id, epoch, lease, step_name, step_for, n))
                UPDATE steadwork.run AS r
                   SET due_at = held.lease_end,
                       step_name = held.step_name,
                       step_since = held.step_since
                  FROM held
                 WHERE r.shard = :shard
                   AND r.run_id = held.run_id
                   AND r.lease_epoch = held.epoch
                   AND r.status = 'RUNNING'
                   AND held.n BETWEEN 1 AND 1000000
                RETURNING CAST(held.n AS integer) AS n,
                          r.cancel_requested_at IS NOT NULL AS cancel_requested,
                          r.pause_requested_at IS NOT NULL AS pause_requested
                """;
        if (held.isEmpty()) {
            return;
        }
        var values = Columns.of(held)
                .with("shard", Shards.ONLY)
                .uuids("runs", run -> run.run().uuid())
                .longs("epochs", Heartbeat.Held::epoch)
                .durations("leases", Heartbeat.Held::lease)
                .texts("steps", Heartbeat.Held::step)
                .durations("stepFors", Heartbeat.Held::stepFor)
                .values();
        pipeline.add(
                sql,
                values,
                row -> requests.put(
                        held.get(row.getInt("n") - 1).run(),
                        new HeartbeatAnswer.Requests(
                                row.getBoolean("cancel_requested"), row.getBoolean("pause_requested"))));
    }
}
