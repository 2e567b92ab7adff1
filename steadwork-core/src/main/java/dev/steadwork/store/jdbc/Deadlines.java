package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.store.By;
import dev.steadwork.store.DeadLetters;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Signals;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/** Fails runs that wait beyond their deadline, with the dead letters they leave behind. */
final class Deadlines {
    private static final int BATCH = 100;

    private final Database database;
    private final JdbcStore store;
    private final Families families;
    private final Events events;

    Deadlines(Database database, JdbcStore store, Families families, Events events) {
        this.database = database;
        this.store = store;
        this.families = families;
        this.events = events;
    }

    private record Overdue(
            RunId run,
            String type,
            Instant deadline,
            @Nullable String deadLetter,
            Payload input) {
        static Overdue of(RowView row) {
            return new Overdue(
                    row.getColumn("run_id", RunId.class),
                    row.getColumn("type", String.class),
                    row.getColumn("deadline", Instant.class),
                    Rows.text(row, "dead_letter"),
                    Rows.payload(row, "input"));
        }

        RunError error() {
            return new RunError(RunError.DEADLINE_EXCEEDED, "The deadline %s passed.".formatted(deadline), null, null);
        }
    }

    private record Expired(int runs, Effects effects, List<RunId> deadLetters) {}

    int expire(String namespace, DeadLetters deadLetters) {
        if (!isAnyWaiting(namespace)) {
            return 0;
        }
        var expired = database.inTransaction(handle -> expire(handle, namespace, deadLetters));
        expired.effects.tell(store);
        expired.deadLetters.forEach(this::tellReady);
        return expired.runs;
    }

    private Expired expire(Handle handle, String namespace, DeadLetters deadLetters) {
        var now = database.now(handle);
        var effects = new Effects();
        int expired = wakeToCompensate(handle, namespace, now, effects);
        var letters = new ArrayList<NewRun>();
        for (var overdue : overdue(handle, namespace, now)) {
            if (fail(handle, overdue, now)) {
                expired++;
                effects.ended(overdue.run);
                events.add(
                        handle,
                        NewEvent.of(
                                overdue.run, EventKind.FAILED, overdue.error().line(), By.NOBODY));
                families.ended(handle, overdue.run, now, effects);
                if (overdue.deadLetter != null) {
                    letters.add(deadLetters.of(
                            overdue.deadLetter, overdue.run, overdue.type, overdue.input, overdue.error()));
                }
            }
        }
        if (!letters.isEmpty()) {
            store.triggerWith(handle, letters);
        }
        return new Expired(expired, effects, letters.stream().map(NewRun::id).toList());
    }

    /** A worker replays them and executes their undo steps before they fail. */
    private int wakeToCompensate(Handle handle, String namespace, Instant now, Effects effects) {
        // PENDING is named only because the index of deadlines has it too: those runs are awake.
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PENDING',
                       pause_requested_at = NULL,
                       due_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id IN (
                       SELECT run_id
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND deadline IS NOT NULL
                          AND deadline <= :now
                          AND deleted_at IS NULL
                          AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                          AND status <> 'PENDING'
                          AND compensates IS NOT NULL
                        LIMIT :limit)
                   AND status IN ('SLEEPING', 'PAUSED')
                RETURNING namespace, queue
                """;
        var topics = handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", now)
                .bind("limit", BATCH)
                .map(row ->
                        Signals.topic(row.getColumn("namespace", String.class), row.getColumn("queue", String.class)))
                .list();
        topics.forEach(effects::ready);
        return topics.size();
    }

    /** Most applications have no such runs: then this one statement is all. */
    private boolean isAnyWaiting(String namespace) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND deadline IS NOT NULL
                          AND deleted_at IS NULL
                          AND status IN ('PENDING', 'SLEEPING', 'PAUSED'))
                """;
        return database.look(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .mapTo(Boolean.class)
                .one());
    }

    private List<Overdue> overdue(Handle handle, String namespace, Instant now) {
        // In the order of run ids, which is that of all statements that change several runs.
        var sql = """
                SELECT r.run_id, r.type, r.deadline, d.dead_letter,
                       CASE WHEN d.dead_letter IS NOT NULL THEN r.input_type END AS input_type,
                       CASE WHEN d.dead_letter IS NOT NULL THEN r.input END AS input
                  FROM steadwork.run r
                  LEFT JOIN steadwork.definition d
                    ON d.namespace = r.namespace
                   AND d.type = r.type
                 WHERE r.shard = :shard
                   AND r.run_id IN (
                       SELECT run_id
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND deadline IS NOT NULL
                          AND deadline <= :now
                          AND deleted_at IS NULL
                          AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                          AND compensates IS NULL
                        ORDER BY deadline
                        LIMIT :limit)
                 ORDER BY r.run_id
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", now)
                .bind("limit", BATCH)
                .map(Overdue::of)
                .list();
    }

    private boolean fail(Handle handle, Overdue overdue, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'FAILED',
                       error = :error,
                       due_at = NULL,
                       worker = NULL,
                       finished_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND deadline <= :now
                   AND deleted_at IS NULL
                   AND compensates IS NULL
                   AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                """;
        return handle.createUpdate(database.sql(sql))
                        .bind("shard", Shards.of(overdue.run))
                        .bind("run", overdue.run)
                        .bind("error", Rows.errorJson(overdue.error()))
                        .bind("now", now)
                        .execute()
                > 0;
    }

    private void tellReady(RunId deadLetter) {
        var run = store.find(deadLetter);
        if (run != null) {
            store.tellReady(List.of(Signals.topic(run.namespace(), run.queue())));
        }
    }
}
