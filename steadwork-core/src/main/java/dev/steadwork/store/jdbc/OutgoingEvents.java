package dev.steadwork.store.jdbc;

import dev.steadwork.Outbox;
import dev.steadwork.OutboxEvent;
import dev.steadwork.RunId;
import dev.steadwork.store.Outgoing;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/** The outbox. Of each run only the oldest event that waits is handed out, to one sender at a time. */
final class OutgoingEvents {
    private static final Comparator<Outgoing.Settled> BY_RUN = Comparator.comparing(
                    (Outgoing.Settled one) -> one.outgoing().event().run())
            .thenComparing(one -> one.outgoing().event().number());

    private final Database database;

    OutgoingEvents(Database database) {
        this.database = database;
    }

    /** Looks before it writes: mostly nothing waits. */
    Outgoing.Batch claim(String namespace, String sender, int limit, Duration lease) {
        var untilNext = untilNext(namespace);
        if (untilNext == null || !untilNext.isZero()) {
            return new Outgoing.Batch(List.of(), untilNext);
        }
        var claimed = database.inTransaction(handle -> {
            var now = database.now(handle);
            var due = due(handle, namespace, limit, now);
            lease(handle, due, sender, SqliteTime.after(now, lease));
            return due;
        });
        // If there is none, all that are due follow one that somebody else is sending.
        return new Outgoing.Batch(claimed, null);
    }

    private @Nullable Duration untilNext(String namespace) {
        record Outlook(Instant now, @Nullable Instant due) {}
        var outlook = database.look(handle -> handle.createQuery(
                        database.sql(database.dialect().selectOutboxOutlook()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .map(row -> new Outlook(row.getColumn("now", Instant.class), Rows.time(row, "due_at")))
                .one());
        var due = outlook.due;
        if (due == null) {
            return null;
        }
        return due.isAfter(outlook.now) ? Duration.between(outlook.now, due) : Duration.ZERO;
    }

    private List<Outgoing> due(Handle handle, String namespace, int limit, Instant now) {
        return handle.createQuery(database.sql(database.dialect().selectDueOutbox()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", now)
                .bind("limit", limit)
                .map(row -> new Outgoing(event(row), row.getColumn("failures", Integer.class)))
                .list();
    }

    private void lease(Handle handle, List<Outgoing> events, String sender, Instant until) {
        var sql = """
                UPDATE steadwork.outbox
                   SET sender = :sender,
                       due_at = :until
                 WHERE shard = :shard
                   AND run_id = :run
                   AND number = :number
                """;
        if (events.isEmpty()) {
            return;
        }
        var batch = handle.prepareBatch(database.sql(sql));
        for (var outgoing : events) {
            batch.bind("shard", Shards.of(outgoing.event().run()))
                    .bind("run", outgoing.event().run())
                    .bind("number", outgoing.event().number())
                    .bind("sender", sender)
                    .bind("until", until)
                    .add();
        }
        batch.execute();
    }

    /** Of events that somebody else has taken meanwhile nothing is kept. */
    void settle(String sender, List<Outgoing.Settled> settled) {
        if (settled.isEmpty()) {
            return;
        }
        var ordered = settled.stream().sorted(BY_RUN).toList();
        database.inTransaction(handle -> {
            var now = database.now(handle);
            for (var one : ordered) {
                var due = SqliteTime.after(now, one.delay());
                if (settle(handle, sender, one, now, due) && one.waits()) {
                    putOffFollowers(handle, one.outgoing().event(), due);
                }
            }
            return ordered;
        });
    }

    private boolean settle(Handle handle, String sender, Outgoing.Settled settled, Instant now, Instant due) {
        var sql = """
                UPDATE steadwork.outbox
                   SET status = :status,
                       sender = NULL,
                       due_at = :due,
                       failures = :failures,
                       error = :error,
                       settled_at = :settledAt
                 WHERE shard = :shard
                   AND run_id = :run
                   AND number = :number
                   AND sender = :sender
                   AND status = 'WAITING'
                """;
        var event = settled.outgoing().event();
        boolean waits = settled.waits();
        boolean tried = settled.outcome() == Outgoing.Outcome.FAILED || settled.outcome() == Outgoing.Outcome.DEAD;
        return handle.createUpdate(database.sql(sql))
                        .bind("shard", Shards.of(event.run()))
                        .bind("run", event.run())
                        .bind("number", event.number())
                        .bind("sender", sender)
                        .bind("status", waits ? "WAITING" : settled.outcome().name())
                        .bind("due", due)
                        .bind("failures", settled.outgoing().failures() + (tried ? 1 : 0))
                        .bind("error", Events.storable(settled.error()))
                        .bindByType("settledAt", waits ? null : now, Instant.class)
                        .execute()
                > 0;
    }

    /** They cannot go before it, and are not to be looked at until then. */
    private void putOffFollowers(Handle handle, OutboxEvent failed, Instant due) {
        var sql = """
                UPDATE steadwork.outbox
                   SET due_at = :due
                 WHERE shard = :shard
                   AND run_id = :run
                   AND number > :number
                   AND status = 'WAITING'
                   AND due_at < :due
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.of(failed.run()))
                .bind("run", failed.run())
                .bind("number", failed.number())
                .bind("due", due)
                .execute();
    }

    int deletePublished(String namespace, Duration olderThan, int limit) {
        var sql = """
                DELETE FROM steadwork.outbox
                 WHERE shard = :shard
                   AND (run_id, number) IN (
                       SELECT run_id, number
                         FROM steadwork.outbox
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND status = 'PUBLISHED'
                          AND settled_at < :before
                        ORDER BY settled_at
                        LIMIT :limit)
                   AND status = 'PUBLISHED'
                """;
        return database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("before", database.now(handle).minus(olderThan))
                .bind("limit", limit)
                .execute());
    }

    Outbox.Stats stats(String namespace) {
        var sql = """
                SELECT (SELECT count(*)
                          FROM steadwork.outbox
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND status = 'WAITING') AS waiting,
                       (SELECT count(*)
                          FROM steadwork.outbox
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND status = 'DEAD') AS dead,
                       (SELECT min(happened_at)
                          FROM steadwork.outbox
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND status = 'WAITING') AS oldest
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .map(row -> new Outbox.Stats(
                        row.getColumn("waiting", Long.class),
                        row.getColumn("dead", Long.class),
                        Rows.time(row, "oldest")))
                .one());
    }

    List<Outbox.DeadEvent> dead(String namespace, int limit) {
        var sql = """
                SELECT number, run_id, namespace, type, kind, happened_at, worker, step, attempt, detail, actor, reason,
                       failures, coalesce(error, '') AS error, settled_at
                  FROM steadwork.outbox
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND status = 'DEAD'
                 ORDER BY number
                 LIMIT :limit
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("limit", limit)
                .map(row -> new Outbox.DeadEvent(
                        event(row),
                        row.getColumn("failures", Integer.class),
                        row.getColumn("error", String.class),
                        row.getColumn("settled_at", Instant.class)))
                .list());
    }

    /**
     * Not while somebody sends another event of the run: then when that lease is over.
     *
     * @param number null for all
     */
    long redrive(String namespace, @Nullable Long number) {
        var sql = """
                UPDATE steadwork.outbox AS dead
                   SET status = 'WAITING',
                       due_at = coalesce(
                           (SELECT max(sent.due_at)
                              FROM steadwork.outbox AS sent
                             WHERE sent.shard = :shard
                               AND sent.run_id = dead.run_id
                               AND sent.status = 'WAITING'
                               AND sent.sender IS NOT NULL
                               AND sent.due_at > :now),
                           :now),
                       failures = 0,
                       settled_at = NULL
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND status = 'DEAD'
                   AND number BETWEEN :first AND :last
                """;
        return database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", database.now(handle))
                .bind("first", number == null ? 0L : number)
                .bind("last", number == null ? Long.MAX_VALUE : number)
                .execute());
    }

    private static OutboxEvent event(RowView row) {
        return new OutboxEvent(
                row.getColumn("number", Long.class),
                row.getColumn("run_id", RunId.class),
                row.getColumn("namespace", String.class),
                row.getColumn("type", String.class),
                Events.kind(row.getColumn("kind", String.class)),
                row.getColumn("happened_at", Instant.class),
                Rows.text(row, "worker"),
                Rows.text(row, "step"),
                row.getColumn("attempt", Integer.class),
                Rows.text(row, "detail"),
                Rows.text(row, "actor"),
                Rows.text(row, "reason"));
    }
}
