package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.Signals;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/** What people ask of single runs. The WHERE of each statement guards the transition; only if it missed, one looks why. */
final class Transitions {
    private static final Runnable NO_EFFECT = () -> {};

    private final Database database;
    private final JdbcStore store;

    private final Families families;

    Transitions(Database database, JdbcStore store, Families families) {
        this.database = database;
        this.store = store;
        this.families = families;
    }

    void cancel(RunId run) {
        settle(handle -> {
            if (cancelWaiting(handle, run)) {
                return ended(handle, run);
            }
            var topic = wakeToCompensate(handle, run);
            if (topic.isPresent()) {
                return () -> store.tellReady(List.of(topic.get()));
            }
            if (requestCancel(handle, run)) {
                return () -> store.tellRequested(Signals.hash(run));
            }
            var status = statusOf(handle, run);
            return switch (status) {
                case CANCELLED -> NO_EFFECT;
                case COMPLETED, FAILED ->
                    throw new InvalidState(
                            "Run %s is %s: it has ended and cannot be cancelled.".formatted(run, status));
                case PENDING, RUNNING, SLEEPING, PAUSED -> null;
            };
        });
    }

    private boolean cancelWaiting(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'CANCELLED',
                       due_at = NULL,
                       worker = NULL,
                       finished_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND compensates IS NULL
                   AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                """;
        return changes(handle, sql, run);
    }

    /** What is to be told when the run has ended, its parent knows, and its children end too. */
    private Runnable ended(Handle handle, RunId run) {
        var effects = new Effects();
        effects.ended(run);
        families.ended(handle, run, database.now(handle), effects);
        return () -> effects.tell(store);
    }

    /** A run with undo steps is replayed by a worker, which then executes them. */
    private Optional<Integer> wakeToCompensate(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PENDING',
                       cancel_requested_at = coalesce(cancel_requested_at, :now),
                       pause_requested_at = NULL,
                       due_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND compensates IS NOT NULL
                   AND status IN ('PENDING', 'SLEEPING', 'PAUSED')
                RETURNING namespace, queue
                """;
        return changedTopic(handle, sql, run);
    }

    private boolean requestCancel(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET cancel_requested_at = coalesce(cancel_requested_at, :now),
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'RUNNING'
                """;
        return changes(handle, sql, run);
    }

    /** The worker that may be executing it hears of it, finds its lease lost and stops. */
    void terminate(RunId run, String reason) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'CANCELLED',
                       lease_epoch = lease_epoch + 1,
                       error = :error,
                       due_at = NULL,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL,
                       finished_at = :now,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                """;
        var error = Rows.errorJson(new RunError(RunError.TERMINATED, reason, null, null));
        settle(handle -> {
            boolean terminated = bind(handle.createUpdate(database.sql(sql)), handle, run)
                            .bind("error", error)
                            .execute()
                    > 0;
            if (terminated) {
                var tell = ended(handle, run);
                return () -> {
                    tell.run();
                    store.tellRequested(Signals.hash(run));
                };
            }
            return movedUnless(handle, run, "terminated");
        });
    }

    void pause(RunId run) {
        settle(handle -> {
            if (pauseWaiting(handle, run)) {
                return NO_EFFECT;
            }
            if (requestPause(handle, run)) {
                return () -> store.tellRequested(Signals.hash(run));
            }
            return statusOf(handle, run) == RunStatus.PAUSED ? NO_EFFECT : movedUnless(handle, run, "paused");
        });
    }

    private boolean pauseWaiting(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PAUSED',
                       paused_at = :now,
                       pause_requested_at = NULL,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status IN ('PENDING', 'SLEEPING')
                """;
        return changes(handle, sql, run);
    }

    private boolean requestPause(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET pause_requested_at = coalesce(pause_requested_at, :now),
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'RUNNING'
                """;
        return changes(handle, sql, run);
    }

    void resume(RunId run) {
        settle(handle -> {
            var topic = resumePaused(handle, run);
            if (topic.isPresent()) {
                return () -> store.tellReady(List.of(topic.get()));
            }
            if (withdrawPause(handle, run)) {
                return NO_EFFECT;
            }
            return switch (statusOf(handle, run)) {
                case PENDING, RUNNING, SLEEPING -> NO_EFFECT;
                case PAUSED, COMPLETED, FAILED, CANCELLED -> movedUnless(handle, run, "resumed");
            };
        });
    }

    private Optional<Integer> resumePaused(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET status = CASE WHEN due_at > :now THEN 'SLEEPING' ELSE 'PENDING' END,
                       paused_at = NULL,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'PAUSED'
                RETURNING namespace, queue
                """;
        return changedTopic(handle, sql, run);
    }

    /** Also if the worker that was to pause the run has left it meanwhile. */
    private boolean withdrawPause(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET pause_requested_at = NULL,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status IN ('PENDING', 'RUNNING', 'SLEEPING')
                   AND pause_requested_at IS NOT NULL
                """;
        return changes(handle, sql, run);
    }

    void retry(RunId run) {
        try {
            settle(handle -> {
                var topic = retryEnded(handle, run);
                if (topic.isPresent()) {
                    forgetFailedSteps(handle, run);
                    return () -> store.tellReady(List.of(topic.get()));
                }
                throw notRetryable(handle, run);
            });
        } catch (Conflict taken) {
            throw new Conflict(
                    "Run %s cannot be retried: another run has its idempotency key now. Cancel or delete that one first."
                            .formatted(run));
        }
    }

    private Optional<Integer> retryEnded(Handle handle, RunId run) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'PENDING',
                       due_at = :now,
                       attempt = 1,
                       lost_leases = 0,
                       error = NULL,
                       output_type = NULL,
                       output = NULL,
                       finished_at = NULL,
                       paused_at = NULL,
                       cancel_requested_at = NULL,
                       pause_requested_at = NULL,
                       deadline = CASE WHEN deadline > :now THEN deadline END,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status IN ('FAILED', 'CANCELLED')
                   AND deleted_at IS NULL
                RETURNING namespace, queue
                """;
        return changedTopic(handle, sql, run);
    }

    private void forgetFailedSteps(Handle handle, RunId run) {
        var steps = """
                DELETE FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'FAILED'
                """;
        var attempts = """
                DELETE FROM steadwork.step_attempt AS a
                 WHERE a.shard = :shard
                   AND a.run_id = :run
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.step s
                        WHERE s.shard = :shard
                          AND s.run_id = :run
                          AND s.name = a.name
                          AND s.occurrence = a.occurrence)
                """;
        for (var sql : List.of(steps, attempts)) {
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.of(run))
                    .bind("run", run)
                    .execute();
        }
    }

    private InvalidState notRetryable(Handle handle, RunId run) {
        var status = statusOf(handle, run);
        var why = status == RunStatus.FAILED || status == RunStatus.CANCELLED ? "deleted" : status.name();
        return new InvalidState("Run %s is %s: only FAILED and CANCELLED runs that are not deleted can be retried."
                .formatted(run, why));
    }

    void delete(RunId run, String reason) {
        var sql = """
                UPDATE steadwork.run
                   SET deleted_at = :now,
                       deleted_reason = :reason,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND deleted_at IS NULL
                """;
        settle(handle -> {
            int deleted = bind(handle.createUpdate(database.sql(sql)), handle, run)
                    .bind("reason", Rows.storable(reason))
                    .execute();
            var status = statusOf(handle, run);
            if (deleted == 0 || status.isTerminal() || status == RunStatus.RUNNING) {
                return NO_EFFECT;
            }
            var effects = new Effects();
            families.lost(handle, run, deleted(run, reason), database.now(handle), effects);
            return () -> effects.tell(store);
        });
    }

    private static RunError deleted(RunId run, String reason) {
        return new RunError(
                RunError.DELETED, "Child run %s was deleted before it ended: %s".formatted(run, reason), null, null);
    }

    /** Repeats until a change applied, which is then told, or cannot; null means that the run moved meanwhile. */
    private void settle(Function<Handle, @Nullable Runnable> change) {
        @Nullable Runnable tell;
        do {
            tell = database.inTransaction(change::apply);
        } while (tell == null);
        tell.run();
    }

    private @Nullable Runnable movedUnless(Handle handle, RunId run, String asked) {
        var status = statusOf(handle, run);
        if (status.isTerminal()) {
            throw new InvalidState("Run %s is %s: it has ended and cannot be %s.".formatted(run, status, asked));
        }
        return null;
    }

    private RunStatus statusOf(Handle handle, RunId run) {
        var sql = """
                SELECT status
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .mapTo(RunStatus.class)
                .findOne()
                .orElseThrow(() -> new NotFound("There is no run %s.".formatted(run)));
    }

    private boolean changes(Handle handle, String sql, RunId run) {
        return bind(handle.createUpdate(database.sql(sql)), handle, run).execute() > 0;
    }

    private Optional<Integer> changedTopic(Handle handle, String sql, RunId run) {
        return bind(handle.createQuery(database.sql(sql)), handle, run)
                .map(row ->
                        Signals.topic(row.getColumn("namespace", String.class), row.getColumn("queue", String.class)))
                .findOne();
    }

    private <S extends SqlStatement<S>> S bind(S statement, Handle handle, RunId run) {
        return statement.bind("shard", Shards.of(run)).bind("run", run).bind("now", database.now(handle));
    }
}
