package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.By;
import dev.steadwork.store.Signals;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/**
 * What the end of a run means for its parent and its children. Part of the transaction that ends it. A child's end is kept
 * in the step of the parent that started it: the first end counts.
 */
final class Families {
    private final Database database;
    private final Events events;

    Families(Database database, Events events) {
        this.database = database;
        this.events = events;
    }

    private record End(
            RunId parent,
            @Nullable String parentStep,
            RunStatus status,
            @Nullable String error,
            @Nullable String outputType,
            byte @Nullable [] output) {
        static End of(RowView row) {
            return new End(
                    row.getColumn("parent_run_id", RunId.class),
                    Rows.text(row, "parent_step"),
                    row.getColumn("status", RunStatus.class),
                    Rows.text(row, "error"),
                    Rows.text(row, "output_type"),
                    row.getColumn("output", byte[].class));
        }

        boolean completed() {
            return status == RunStatus.COMPLETED;
        }
    }

    /** The run has ended: its parent learns how, and its children that are to end with it do. */
    void ended(Handle handle, RunId run, Instant now, Effects effects) {
        tellParent(handle, run, null, now, effects);
        endChildren(handle, run, now, effects);
    }

    /** Nobody will execute the run any more: for its parent that is a failure with this error. */
    void lost(Handle handle, RunId run, RunError error, Instant now, Effects effects) {
        tellParent(handle, run, Rows.errorJson(error), now, effects);
    }

    /** Keeps the end of a child in its parent's step, and wakes the parent if it waits for it. */
    void tellParent(Handle handle, RunId child, @Nullable String lost, Instant now, Effects effects) {
        var sql = """
                SELECT parent_run_id, parent_step, status, error, output_type, output
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                   AND parent_run_id IS NOT NULL
                   AND parent_step IS NOT NULL
                """;
        bind(handle.createQuery(database.sql(sql)), child)
                .map(End::of)
                .findOne()
                .ifPresent(end -> tellParent(handle, child, end, lost, now, effects));
    }

    private void tellParent(Handle handle, RunId child, End end, @Nullable String lost, Instant now, Effects effects) {
        var label = end.parentStep;
        if (label != null && keepEnd(handle, child, end, label, lost, now)) {
            wake(handle, end.parent, Write.Awaits.child(label), now, effects);
        }
    }

    private boolean keepEnd(Handle handle, RunId child, End end, String label, @Nullable String lost, Instant now) {
        var sql = """
                UPDATE steadwork.step
                   SET status = :status,
                       error = :error,
                       output_type = :outputType,
                       output = :output,
                       finished_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND name = :name
                   AND occurrence = :occurrence
                   AND child_run_id = :child
                   AND status = 'WAITING'
                """;
        var key = StepRecord.Key.ofLabel(label);
        return bind(handle.createUpdate(database.sql(sql)), end.parent)
                        .bind("name", key.name())
                        .bind("occurrence", key.occurrence())
                        .bind("child", child)
                        .bind("status", end.completed() && lost == null ? "COMPLETED" : "FAILED")
                        .bind("error", lost != null ? lost : errorOf(child, end))
                        .bind("outputType", end.outputType)
                        .bind("output", end.output)
                        .bind("now", now)
                        .execute()
                > 0;
    }

    private static @Nullable String errorOf(RunId child, End end) {
        if (end.completed()) {
            return null;
        }
        return end.error != null ? end.error : Rows.errorJson(cancelled(child));
    }

    /** What a parent sees of a child that was cancelled. */
    static RunError cancelled(RunId child) {
        return new RunError(RunError.CANCELLED, "Child run %s was cancelled.".formatted(child), null, null);
    }

    /** Counts a message of the run, and wakes the run if it waits for it. Returns the message's number, null if it has ended. */
    @Nullable
    Integer wake(Handle handle, RunId run, String message, Instant now, Effects effects) {
        // A paused run is due when it is resumed.
        var sql = """
                UPDATE steadwork.run
                   SET inbox = coalesce(inbox, 0) + 1,
                       status = CASE WHEN status = 'SLEEPING' AND awaits IN ('*', :message) THEN 'PENDING' ELSE status END,
                       due_at = CASE WHEN status IN ('SLEEPING', 'PAUSED') AND awaits IN ('*', :message) THEN :now ELSE due_at END
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                   AND deleted_at IS NULL
                RETURNING inbox, status, namespace, queue
                """;
        return bind(handle.createQuery(database.sql(sql)), run)
                .bind("message", message)
                .bind("now", now)
                .map(row -> {
                    if (row.getColumn("status", RunStatus.class) == RunStatus.PENDING) {
                        effects.ready(Signals.topic(
                                row.getColumn("namespace", String.class), row.getColumn("queue", String.class)));
                    }
                    return row.getColumn("inbox", Integer.class);
                })
                .findOne()
                .orElse(null);
    }

    /** Cancels the children that end with this run, and theirs. */
    void endChildren(Handle handle, RunId parent, Instant now, Effects effects) {
        if (!hasChildren(handle, parent)) {
            return;
        }
        // First of all: it locks all children, so that none is claimed or parked between the other two.
        var asked = requestCancel(handle, parent, now);
        asked.forEach(effects::requested);
        wakeToCompensate(handle, parent, now, effects);
        var cancelled = cancelWaiting(handle, parent, now);
        asked.removeAll(cancelled);
        tell(handle, asked, EventKind.CANCEL_REQUESTED, parent);
        if (cancelled.isEmpty()) {
            return;
        }
        cancelled.forEach(effects::ended);
        tell(handle, cancelled, EventKind.CANCELLED, parent);
        keepCancelled(handle, parent, now);
        cancelled.forEach(child -> endChildren(handle, child, now, effects));
    }

    private void tell(Handle handle, Collection<RunId> children, EventKind kind, RunId parent) {
        children.forEach(child -> events.add(handle, NewEvent.of(child, kind, "with its parent " + parent, By.NOBODY)));
    }

    private boolean hasChildren(Handle handle, RunId parent) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM steadwork.step
                        WHERE shard = :shard
                          AND run_id = :run
                          AND child_run_id IS NOT NULL
                          AND status = 'WAITING')
                """;
        return bind(handle.createQuery(database.sql(sql)), parent)
                .mapTo(Boolean.class)
                .one();
    }

    private void wakeToCompensate(Handle handle, RunId parent, Instant now, Effects effects) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PENDING',
                       cancel_requested_at = coalesce(cancel_requested_at, :now),
                       pause_requested_at = NULL,
                       due_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND parent_run_id = :run
                   AND ends_with_parent IS NOT NULL
                   AND compensates IS NOT NULL
                   AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                RETURNING namespace, queue
                """;
        bind(handle.createQuery(database.sql(sql)), parent)
                .bind("now", now)
                .map(row ->
                        Signals.topic(row.getColumn("namespace", String.class), row.getColumn("queue", String.class)))
                .forEach(effects::ready);
    }

    private Set<RunId> requestCancel(Handle handle, RunId parent, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET cancel_requested_at = coalesce(cancel_requested_at, :now),
                       updated_at = :now
                 WHERE shard = :shard
                   AND parent_run_id = :run
                   AND ends_with_parent IS NOT NULL
                   AND status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                RETURNING run_id
                """;
        return bind(handle.createQuery(database.sql(sql)), parent)
                .bind("now", now)
                .mapTo(RunId.class)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private List<RunId> cancelWaiting(Handle handle, RunId parent, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'CANCELLED',
                       due_at = NULL,
                       worker = NULL,
                       finished_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND parent_run_id = :run
                   AND ends_with_parent IS NOT NULL
                   AND compensates IS NULL
                   AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                RETURNING run_id
                """;
        return bind(handle.createQuery(database.sql(sql)), parent)
                .bind("now", now)
                .mapTo(RunId.class)
                .list();
    }

    private void keepCancelled(Handle handle, RunId parent, Instant now) {
        var sql = """
                UPDATE steadwork.step
                   SET status = 'FAILED',
                       error = :error,
                       finished_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'WAITING'
                   AND child_run_id IN (
                       SELECT run_id
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND parent_run_id = :run
                          AND status = 'CANCELLED')
                """;
        var error = new RunError(RunError.CANCELLED, "The child was cancelled with its parent.", null, null);
        bind(handle.createUpdate(database.sql(sql)), parent)
                .bind("error", Rows.errorJson(error))
                .bind("now", now)
                .execute();
    }

    private static <S extends SqlStatement<S>> S bind(S statement, RunId run) {
        return statement.bind("shard", Shards.of(run)).bind("run", run);
    }
}
