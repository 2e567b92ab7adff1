package dev.steadwork.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** Events of a transaction: one statement for all of them. */
final class PostgresEvents extends Events {
    PostgresEvents(Database database) {
        super(database);
    }

    @Override
    void append(Handle handle, List<NewEvent> events) {
        try {
            append(handle.getConnection(), events);
        } catch (SQLException e) {
            throw SqlErrors.translate(e, "recording events in " + database.place());
        }
    }

    void append(Connection connection, List<NewEvent> events) throws SQLException {
        // A step that was kept before is answered like one that is kept now; it is told once per epoch.
        // A run that has left its worker is told of with the worker that took it under that epoch.
        // OFFSET 0 keeps the planner from reading all events there are into a hash table to look these up.
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now),
                     told AS MATERIALIZED (
                         SELECT u.run_id,
                                u.kind,
                                u.epoch,
                                u.step,
                                u.attempt,
                                u.detail,
                                u.actor,
                                u.reason,
                                u.n,
                                r.namespace,
                                r.type,
                                coalesce(u.worker, CASE WHEN r.lease_epoch = u.epoch THEN r.worker END, leased.worker) AS worker,
                                ns.audit,
                                ns.outbox LIKE '%"' || u.kind || '"%' AS published
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:kinds AS text[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:workers AS text[])),
                                    (SELECT CAST(:steps AS text[])),
                                    (SELECT CAST(:attempts AS integer[])),
                                    (SELECT CAST(:details AS text[])),
                                    (SELECT CAST(:actors AS text[])),
                                    (SELECT CAST(:reasons AS text[]))) WITH ORDINALITY
                             AS u (run_id, kind, epoch, worker, step, attempt, detail, actor, reason, n)
                          CROSS JOIN LATERAL (
                                SELECT namespace, type, worker, lease_epoch
                                  FROM steadwork.run
                                 WHERE run.shard = :shard
                                   AND run.run_id = u.run_id
                                OFFSET 0) AS r
                           JOIN steadwork.namespace AS ns
                             ON ns.namespace = r.namespace
                           LEFT JOIN LATERAL (
                                SELECT e.worker
                                  FROM steadwork.event AS e
                                 WHERE e.shard = :shard
                                   AND e.run_id = u.run_id
                                   AND e.kind = 'leased'
                                   AND e.lease_epoch = u.epoch
                                 LIMIT 1) AS leased ON true
                          WHERE (ns.audit OR ns.outbox IS NOT NULL)
                            AND NOT (u.step IS NOT NULL
                                     AND u.kind IN ('step_completed', 'step_failed', 'retried')
                                     AND u.epoch IS NOT NULL
                                     AND (EXISTS (
                                              SELECT FROM steadwork.event AS e
                                               WHERE e.shard = :shard
                                                 AND e.run_id = u.run_id
                                                 AND e.lease_epoch = u.epoch
                                                 AND e.kind = u.kind
                                                 AND e.step = u.step
                                                 AND e.attempt = u.attempt
                                              OFFSET 0)
                                          OR EXISTS (
                                              SELECT FROM steadwork.outbox AS o
                                               WHERE o.shard = :shard
                                                 AND o.run_id = u.run_id
                                                 AND o.lease_epoch = u.epoch
                                                 AND o.kind = u.kind
                                                 AND o.step = u.step
                                                 AND o.attempt = u.attempt
                                              OFFSET 0)))),
                     audited AS (
                         INSERT INTO steadwork.event
                             (shard, run_id, namespace, type, kind, happened_at, lease_epoch, worker, step, attempt, detail,
                              actor, reason)
                         SELECT CAST(:shard AS smallint), t.run_id, t.namespace, t.type, t.kind, clock.now, t.epoch, t.worker,
                                t.step, t.attempt, t.detail, t.actor, t.reason
                           FROM told AS t
                          CROSS JOIN clock
                          WHERE t.audit
                          ORDER BY t.n)
                INSERT INTO steadwork.outbox
                    (shard, run_id, namespace, type, kind, happened_at, lease_epoch, worker, step, attempt, detail, actor,
                     reason, status, due_at, failures)
                SELECT CAST(:shard AS smallint), t.run_id, t.namespace, t.type, t.kind, clock.now, t.epoch, t.worker, t.step,
                       t.attempt, t.detail, t.actor, t.reason, 'WAITING', clock.now, 0
                  FROM told AS t
                 CROSS JOIN clock
                 WHERE t.published
                 ORDER BY t.n
                """;
        if (events.isEmpty()) {
            return;
        }
        var values = Columns.of(events)
                .with("shard", Shards.ONLY)
                .uuids("runs", event -> event.run().uuid())
                .texts("kinds", event -> event.kind().label())
                .longs("epochs", NewEvent::epoch)
                .texts("workers", NewEvent::worker)
                .texts("steps", NewEvent::step)
                .ints("attempts", NewEvent::attempt)
                .texts("details", NewEvent::detail)
                .texts("actors", event -> event.by().actor())
                .texts("reasons", event -> event.by().reason())
                .values();
        new Pipeline(database).add(sql, values, row -> {}).run(connection);
    }
}
