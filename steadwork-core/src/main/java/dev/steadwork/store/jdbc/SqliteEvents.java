package dev.steadwork.store.jdbc;

import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlStatement;

/** Events in SQLite, one by one: its statements are prepared, and nobody else writes meanwhile. */
final class SqliteEvents extends Events {
    SqliteEvents(Database database) {
        super(database);
    }

    @Override
    void append(Handle handle, List<NewEvent> events) {
        if (events.isEmpty()) {
            return;
        }
        var now = database.now(handle);
        for (var event : events) {
            record(handle, event, now);
            publish(handle, event, now);
        }
    }

    /** A run that has left its worker is told of with the worker that took it under that epoch. */
    private void record(Handle handle, NewEvent event, Instant now) {
        var sql = """
                INSERT INTO steadwork.event
                    (shard, run_id, namespace, type, kind, happened_at, lease_epoch, worker, step, attempt, detail,
                     actor, reason)
                SELECT r.shard, r.run_id, r.namespace, r.type, :kind, :now, :epoch,
                       coalesce(
                           :worker,
                           CASE WHEN r.lease_epoch = :epoch THEN r.worker END,
                           (SELECT e.worker
                              FROM steadwork.event AS e
                             WHERE e.shard = r.shard
                               AND e.run_id = r.run_id
                               AND e.kind = 'leased'
                               AND e.lease_epoch = :epoch)),
                       :step, :attempt, :detail, :actor, :reason
                  FROM steadwork.run AS r
                  JOIN steadwork.namespace AS ns
                    ON ns.namespace = r.namespace
                 WHERE r.shard = :shard
                   AND r.run_id = :run
                   AND ns.audit
                """;
        bind(handle.createUpdate(database.sql(sql)), event, now).execute();
    }

    private void publish(Handle handle, NewEvent event, Instant now) {
        var sql = """
                INSERT INTO steadwork.outbox
                    (shard, run_id, namespace, type, kind, happened_at, lease_epoch, worker, step, attempt, detail, actor,
                     reason, status, due_at, failures)
                SELECT r.shard, r.run_id, r.namespace, r.type, :kind, :now, :epoch,
                       coalesce(
                           :worker,
                           CASE WHEN r.lease_epoch = :epoch THEN r.worker END,
                           (SELECT e.worker
                              FROM steadwork.event AS e
                             WHERE e.shard = r.shard
                               AND e.run_id = r.run_id
                               AND e.kind = 'leased'
                               AND e.lease_epoch = :epoch)),
                       :step, :attempt, :detail, :actor, :reason, 'WAITING', :now, 0
                  FROM steadwork.run AS r
                  JOIN steadwork.namespace AS ns
                    ON ns.namespace = r.namespace
                 WHERE r.shard = :shard
                   AND r.run_id = :run
                   AND ns.outbox LIKE '%"' || :kind || '"%'
                """;
        bind(handle.createUpdate(database.sql(sql)), event, now).execute();
    }

    private static <S extends SqlStatement<S>> S bind(S statement, NewEvent event, Instant now) {
        return statement
                .bind("shard", Shards.of(event.run()))
                .bind("run", event.run())
                .bind("kind", event.kind().label())
                .bind("now", now)
                .bind("epoch", event.epoch())
                .bind("worker", event.worker())
                .bind("step", event.step())
                .bind("attempt", event.attempt())
                .bind("detail", event.detail())
                .bind("actor", event.by().actor())
                .bind("reason", event.by().reason());
    }
}
