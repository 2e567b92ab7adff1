package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepKind;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.Signals;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * One batch of writes in one transaction of SQLite. There is no other writer until it commits, so what the fence saw of a
 * run stays true.
 */
final class SqliteWrites {
    private final Database database;
    private final SqliteTriggers triggers;
    private final Families families;
    private final Events events;
    private final Handle handle;
    private final Instant now;

    private final Effects effects = new Effects();

    SqliteWrites(Database database, SqliteTriggers triggers, Families families, Events events, Handle handle) {
        this.database = database;
        this.triggers = triggers;
        this.families = families;
        this.events = events;
        this.handle = handle;
        this.now = database.now(handle);
    }

    Effects effects() {
        return effects;
    }

    List<WriteResult> apply(List<? extends Write> batch) {
        var results = new ArrayList<WriteResult>(batch.size());
        for (var write : batch) {
            results.add(apply(write));
        }
        return results;
    }

    private WriteResult apply(Write write) {
        return write instanceof Write.Trigger trigger
                ? triggers.insert(handle, trigger, now, effects.readyTopics())
                : applyFenced((Write.Fenced) write);
    }

    private Ack applyFenced(Write.Fenced write) {
        if (write instanceof Write.Finish finish && finish(finish)) {
            record(write, false);
            return Ack.STORED;
        }
        var fence = fence(write.run());
        if (fence == null) {
            return Ack.NOT_FOUND;
        }
        if (!fence.holds(write.epoch())) {
            return fence.shows(write) ? fence.stored() : Ack.LEASE_LOST;
        }
        if (fence.cancelRequested && mustYieldToCancel(write)) {
            return Ack.REFUSED;
        }
        if (change(write, fence)) {
            record(write, fence.pauseRequested);
        }
        return fence.stored();
    }

    private void record(Write.Fenced write, boolean pauseRequested) {
        if (events.areWantedByWorkers()) {
            events.append(handle, NewEvent.of(write, pauseRequested));
        }
    }

    private static boolean mustYieldToCancel(Write.Fenced write) {
        return write instanceof Write.Park
                || write instanceof Write.Pause
                || write instanceof Write.Finish finish && finish.status() != RunStatus.CANCELLED;
    }

    /** Whether it was not made before. */
    private boolean change(Write.Fenced write, Fence fence) {
        if (write instanceof Write.SaveStep save) {
            return saveStep(save);
        } else if (write instanceof Write.SaveAttempt save) {
            return insertAttempt(save.run(), save.attempt());
        } else if (write instanceof Write.Park park) {
            park(park);
        } else if (write instanceof Write.Pause pause) {
            pause(pause, fence);
        } else if (write instanceof Write.Release release) {
            release(release);
        }
        return true;
    }

    /** What stands in a run's row when a worker's write arrives. */
    private record Fence(long epoch, RunStatus status, boolean cancelRequested, boolean pauseRequested) {
        boolean holds(long writersEpoch) {
            return epoch == writersEpoch && status == RunStatus.RUNNING;
        }

        /** Whether the write was made already and is sent again because its answer was lost. */
        boolean shows(Write.Fenced write) {
            if (write instanceof Write.Release) {
                return epoch == write.epoch() + 1 && status == RunStatus.PENDING;
            }
            if (epoch != write.epoch()) {
                return false;
            }
            return write instanceof Write.Finish finish && status == finish.status()
                    || write instanceof Write.Park && !status.isTerminal();
        }

        Ack stored() {
            return new Ack(Ack.Outcome.STORED, cancelRequested, pauseRequested);
        }
    }

    private @Nullable Fence fence(RunId run) {
        var sql = """
                SELECT lease_epoch, status,
                       cancel_requested_at IS NOT NULL AS cancel_requested,
                       pause_requested_at IS NOT NULL AS pause_requested
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                """;
        return statement(sql)
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .first(row -> new Fence(
                        row.getLong("lease_epoch"),
                        RunStatus.valueOf(row.getString("status")),
                        row.getBoolean("cancel_requested"),
                        row.getBoolean("pause_requested")))
                .orElse(null);
    }

    private boolean saveStep(Write.SaveStep save) {
        boolean kept = insertStep(save.run(), save.step(), save.step().wakeAt());
        if (save.step().kind() == StepKind.UNDO) {
            markCompensates(save.run());
        }
        if (save.signal() != null) {
            deleteSignal(save.run(), save.signal());
        }
        var child = save.child();
        if (child != null
                && !triggers.insert(handle, child, now, effects.readyTopics()).accepted()) {
            throw Refusals.child(child);
        }
        return kept;
    }

    private void markCompensates(RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET compensates = true
                 WHERE shard = :shard
                   AND run_id = :run
                   AND compensates IS NULL
                """;
        statement(sql).bind("shard", Shards.of(run)).bind("run", run).execute();
    }

    private void deleteSignal(RunId run, int number) {
        var sql = """
                DELETE FROM steadwork.signal
                 WHERE shard = :shard
                   AND run_id = :run
                   AND number = :number
                """;
        statement(sql)
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("number", number)
                .execute();
    }

    private boolean insertStep(RunId run, StepRecord step, @Nullable Instant wakeAt) {
        var sql = """
                INSERT INTO steadwork.step
                    (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at,
                     error, input_type, input, output_type, output, child_run_id)
                VALUES
                    (:shard, :run, :name, :occurrence, :position, :kind, :status, :attempt, :startedAt, :finishedAt, :wakeAt,
                     :error, :inputType, :input, :outputType, :output, :child)
                ON CONFLICT (shard, run_id, name, occurrence) DO UPDATE
                   SET status = excluded.status,
                       attempt = excluded.attempt,
                       started_at = coalesce(started_at, excluded.started_at),
                       finished_at = excluded.finished_at,
                       error = excluded.error,
                       output_type = excluded.output_type,
                       output = excluded.output
                 WHERE status = 'WAITING'
                """;
        return statement(sql)
                        .bind("shard", Shards.of(run))
                        .bind("run", run)
                        .bind("name", step.key().name())
                        .bind("occurrence", step.key().occurrence())
                        .bind("position", step.key().position())
                        .bind("kind", step.kind().name())
                        .bind("status", step.status().name())
                        .bind("attempt", step.attempt())
                        .bind("startedAt", step.startedAt())
                        .bind("finishedAt", step.finishedAt())
                        .bind("wakeAt", wakeAt)
                        .bind("error", Rows.errorJson(step.error()))
                        .bind("inputType", Rows.payloadType(step.input()))
                        .bind("input", Rows.payloadBytes(step.input()))
                        .bind("outputType", Rows.payloadType(step.output()))
                        .bind("output", Rows.payloadBytes(step.output()))
                        .bind("child", step.childRun())
                        .execute()
                > 0;
    }

    private boolean insertAttempt(RunId run, AttemptRecord attempt) {
        var sql = """
                INSERT INTO steadwork.step_attempt
                    (shard, run_id, name, occurrence, attempt, position, kind, error, started_at, finished_at)
                VALUES
                    (:shard, :run, :name, :occurrence, :attempt, :position, :kind, :error, :startedAt, :finishedAt)
                ON CONFLICT DO NOTHING
                """;
        int kept = statement(sql)
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("name", attempt.key().name())
                .bind("occurrence", attempt.key().occurrence())
                .bind("attempt", attempt.attempt())
                .bind("position", attempt.key().position())
                .bind("kind", attempt.kind().name())
                .bind("error", Rows.errorJson(attempt.error()))
                .bind("startedAt", attempt.startedAt())
                .bind("finishedAt", attempt.finishedAt())
                .execute();
        if (attempt.attempt() > AttemptRecord.KEPT) {
            deleteAttempt(run, attempt.key(), attempt.attempt() - AttemptRecord.KEPT);
        }
        return kept > 0;
    }

    private void deleteAttempt(RunId run, StepRecord.Key key, int attempt) {
        var sql = """
                DELETE FROM steadwork.step_attempt
                 WHERE shard = :shard
                   AND run_id = :run
                   AND name = :name
                   AND occurrence = :occurrence
                   AND attempt = :attempt
                """;
        statement(sql)
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("name", key.name())
                .bind("occurrence", key.occurrence())
                .bind("attempt", attempt)
                .execute();
    }

    /** Writes first; whether it could. If not, the fence says why. */
    private boolean finish(Write.Finish finish) {
        var sql = """
                UPDATE steadwork.run
                   SET status = :status,
                       output_type = :outputType,
                       output = :output,
                       error = :error,
                       due_at = NULL,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       finished_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                   AND (cancel_requested_at IS NULL OR :status = 'CANCELLED')
                """;
        int ended = statement(sql, finish)
                .bind("status", finish.status().name())
                .bind("outputType", Rows.payloadType(finish.output()))
                .bind("output", Rows.payloadBytes(finish.output()))
                .bind("error", finish.status() == RunStatus.COMPLETED ? null : Rows.errorJson(finish.error()))
                .execute();
        if (ended == 0) {
            return false;
        }
        effects.ended(finish.run());
        if (finish.deadLetter() != null) {
            triggers.insert(handle, finish.deadLetter(), now, effects.readyTopics());
        }
        if (finish.parent() != null) {
            families.tellParent(handle, finish.run(), null, now, effects);
        }
        if (finish.endsChildren()) {
            families.endChildren(handle, finish.run(), now, effects);
        }
        return true;
    }

    private void park(Write.Park park) {
        var sql = """
                UPDATE steadwork.run
                   SET status = CASE WHEN pause_requested_at IS NOT NULL THEN 'PAUSED'
                                     WHEN coalesce(inbox, 0) > :seen THEN 'PENDING'
                                     ELSE 'SLEEPING' END,
                       paused_at = CASE WHEN pause_requested_at IS NULL THEN paused_at ELSE :now END,
                       pause_requested_at = NULL,
                       due_at = CASE WHEN coalesce(inbox, 0) > :seen THEN :now
                                     ELSE min(coalesce(:wake, deadline), coalesce(deadline, :wake)) END,
                       awaits = :awaits,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       attempt = :attempt,
                       error = :error,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                RETURNING namespace, queue
                """;
        var wake = wakeTime(park.wake());
        var awaits = park.awaits();
        statement(sql, park)
                .bind("wake", wake)
                .bind("awaits", awaits == null ? null : awaits.message())
                .bind("seen", awaits == null ? null : awaits.seen())
                .bind("attempt", park.attempt())
                .bind("error", Rows.errorJson(park.error()))
                .first(SqliteWrites::topic)
                .ifPresent(effects::ready);
        if (park.sleep() != null) {
            insertStep(park.run(), park.sleep(), wake);
        }
        if (park.failedAttempt() != null) {
            insertAttempt(park.run(), park.failedAttempt());
        }
    }

    private @Nullable Instant wakeTime(Write.Wake wake) {
        if (wake.at() != null) {
            return wake.at();
        }
        return wake.after() == null ? null : SqliteTime.after(now, wake.after());
    }

    private void pause(Write.Pause pause, Fence fence) {
        var sql = """
                UPDATE steadwork.run
                   SET status = CASE WHEN pause_requested_at IS NULL THEN 'PENDING' ELSE 'PAUSED' END,
                       paused_at = CASE WHEN pause_requested_at IS NULL THEN paused_at ELSE :now END,
                       pause_requested_at = NULL,
                       due_at = :now,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                RETURNING namespace, queue
                """;
        var topic = statement(sql, pause).first(SqliteWrites::topic);
        if (!fence.pauseRequested) {
            topic.ifPresent(effects::ready);
        }
    }

    private void release(Write.Release release) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PENDING',
                       lease_epoch = lease_epoch + 1,
                       due_at = :now,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                RETURNING namespace, queue
                """;
        statement(sql, release).first(SqliteWrites::topic).ifPresent(effects::ready);
    }

    private static int topic(ResultSet row) throws SQLException {
        return Signals.topic(row.getString("namespace"), row.getString("queue"));
    }

    private SqliteStatement statement(String sql) {
        return SqliteStatement.of(handle, database.sql(sql));
    }

    private SqliteStatement statement(String sql, Write.Fenced write) {
        return statement(sql)
                .bind("shard", Shards.of(write.run()))
                .bind("run", write.run())
                .bind("epoch", write.epoch())
                .bind("now", now);
    }
}
