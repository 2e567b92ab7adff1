package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.HeartbeatAnswer.Requests;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Promotion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** What SQLite does by time: wakes sleepers, takes back expired leases, prolongs those of workers that live. */
final class SqliteTimers {
    private final Database database;
    private final Events events;

    SqliteTimers(Database database, Events events) {
        this.database = database;
        this.events = events;
    }

    Promotion promote(Handle handle, PromoteRequest request) {
        var now = database.now(handle);
        if (events.areWanted(request.namespace())) {
            events.append(handle, lost(handle, request, now));
        }
        int promoted = promoteDue(handle, request, now);
        return new Promotion(promoted, untilNext(handle, request).orElse(null));
    }

    /** What workers lose with their leases; told before, because it is not known afterwards which they were. */
    private List<NewEvent> lost(Handle handle, PromoteRequest request, Instant now) {
        var sql = """
                SELECT run_id, lease_epoch
                  FROM (SELECT run_id, lease_epoch, status
                          FROM steadwork.run
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND queue = :queue
                           AND status IN ('SLEEPING', 'RUNNING')
                           AND deleted_at IS NULL
                           AND due_at <= :now
                           AND (status = 'SLEEPING' OR run_id NOT IN (SELECT value FROM json_each(:executing)))
                         ORDER BY due_at
                         LIMIT :limit)
                 WHERE status = 'RUNNING'
                """;
        var lost = new ArrayList<NewEvent>();
        for (var queue : request.queues()) {
            handle.createQuery(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", request.namespace())
                    .bind("queue", queue)
                    .bind("executing", executing(request))
                    .bind("now", now)
                    .bind("limit", request.limit())
                    .map(row -> NewEvent.lost(
                            row.getColumn("run_id", RunId.class), row.getColumn("lease_epoch", Long.class)))
                    .forEach(lost::add);
        }
        return lost;
    }

    private int promoteDue(Handle handle, PromoteRequest request, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET lease_epoch = lease_epoch + (status = 'RUNNING'),
                       lost_leases = lost_leases + (status = 'RUNNING'),
                       due_at = CASE WHEN status = 'RUNNING' THEN started_at ELSE due_at END,
                       status = 'PENDING',
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       updated_at = :now
                 WHERE rowid IN (
                       SELECT rowid
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND queue = :queue
                          AND status IN ('SLEEPING', 'RUNNING')
                          AND deleted_at IS NULL
                          AND due_at <= :now
                          AND (status = 'SLEEPING' OR run_id NOT IN (SELECT value FROM json_each(:executing)))
                        ORDER BY due_at
                        LIMIT :limit)
                """;
        int promoted = 0;
        for (var queue : request.queues()) {
            promoted += handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", request.namespace())
                    .bind("queue", queue)
                    .bind("executing", executing(request))
                    .bind("now", now)
                    .bind("limit", request.limit() - promoted)
                    .execute();
        }
        return promoted;
    }

    /** When the next timer is due, zero if one is now; one statement for all queues. */
    Optional<Duration> untilNext(Handle handle, PromoteRequest request) {
        // Not runs without a time: they wait for a message, and SQLite sorts them first.
        var sql = """
                SELECT due_at
                  FROM (SELECT (SELECT due_at
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND namespace = :namespace
                                   AND queue = q.value
                                   AND status IN ('SLEEPING', 'RUNNING')
                                   AND deleted_at IS NULL
                                   AND due_at >= 0
                                   AND (status = 'SLEEPING'
                                        OR run_id NOT IN (SELECT value FROM json_each(:executing)))
                                 ORDER BY due_at
                                 LIMIT 1) AS due_at
                          FROM json_each(:queues) AS q)
                 WHERE due_at IS NOT NULL
                 ORDER BY due_at
                 LIMIT 1
                """;
        var now = database.now(handle);
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queues", Rows.listJson(request.queues()))
                .bind("executing", executing(request))
                .mapTo(Instant.class)
                .findOne()
                .map(time -> time.isBefore(now) ? Duration.ZERO : Duration.between(now, time));
    }

    private static String executing(PromoteRequest request) {
        return Rows.listJson(request.executing().stream().map(RunId::toString).toList());
    }

    /** @param version where to put that of the namespaces' settings */
    HeartbeatAnswer heartbeat(Handle handle, Heartbeat heartbeat, long[] version) {
        var now = database.now(handle);
        version[0] = events.namespaces().version(handle);
        var entry = updateWorker(handle, heartbeat, now);
        var answers = new HashMap<RunId, Requests>();
        for (var held : heartbeat.held()) {
            prolong(handle, held, now).ifPresent(requests -> answers.put(held.run(), requests));
        }
        return new HeartbeatAnswer(now, entry, answers);
    }

    private Optional<Requests> prolong(Handle handle, Heartbeat.Held held, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET due_at = :leaseEnd,
                       step_name = :step,
                       step_since = :stepSince
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                RETURNING cancel_requested_at IS NOT NULL AS cancel_requested,
                          pause_requested_at IS NOT NULL AS pause_requested
                """;
        var since = held.stepFor() == null ? null : now.minus(held.stepFor());
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(held.run()))
                .bind("run", held.run())
                .bind("epoch", held.epoch())
                .bind("leaseEnd", SqliteTime.after(now, held.lease()))
                .bind("step", held.step())
                .bindByType("stepSince", since, Instant.class)
                .map(row -> new Requests(
                        row.getColumn("cancel_requested", Boolean.class),
                        row.getColumn("pause_requested", Boolean.class)))
                .findOne();
    }

    private HeartbeatAnswer.Entry updateWorker(Handle handle, Heartbeat heartbeat, Instant now) {
        var sql = """
                UPDATE steadwork.worker
                   SET heartbeat_at = :now,
                       active = :active,
                       completed = completed + :completed,
                       failed = failed + :failed,
                       status = CASE WHEN drain_requested_at IS NULL THEN :status ELSE 'DRAINING' END
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                RETURNING drain_requested_at IS NOT NULL AS drain
                """;
        return handle.createQuery(database.sql(sql))
                .bind("namespace", heartbeat.namespace())
                .bind("worker", heartbeat.worker())
                .bind("now", now)
                .bind("active", heartbeat.active())
                .bind("completed", heartbeat.completed())
                .bind("failed", heartbeat.failed())
                .bind("status", heartbeat.draining() ? "DRAINING" : "ONLINE")
                .mapTo(Boolean.class)
                .findOne()
                .map(drain -> HeartbeatAnswer.Entry.of(false, drain))
                .orElse(HeartbeatAnswer.Entry.MISSING);
    }
}
