package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.EventKind;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.store.By;
import dev.steadwork.store.Signals;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/** What people ask of single runs. The WHERE of each statement guards the transition; only if it missed, one looks why. */
final class Transitions {
    /** What the transition of a run returns that it left as it was. */
    static final Runnable NO_EFFECT = Untold.UNCHANGED;

    private final Database database;
    private final JdbcStore store;
    private final Families families;
    private final Reads reads;
    private final FailedSteps failedSteps;
    private final Events events;
    private final By by;

    /** What nobody needs to be told. */
    private enum Untold implements Runnable {
        CHANGED,
        UNCHANGED;

        @Override
        public void run() {}
    }

    Transitions(Database database, JdbcStore store, Families families, Events events, By by) {
        this.database = database;
        this.store = store;
        this.families = families;
        this.reads = new Reads(database);
        this.failedSteps = new FailedSteps(database);
        this.events = events;
        this.by = by;
    }

    void cancel(RunId run) {
        settle(handle -> cancel(handle, run));
    }

    /** Whom to tell after the commit, or null if the run moved meanwhile. */
    @Nullable
    Runnable cancel(Handle handle, RunId run) {
        if (cancelWaiting(handle, run)) {
            tell(handle, run, EventKind.CANCELLED, null);
            return ended(handle, run);
        }
        var topic = wakeToCompensate(handle, run);
        if (topic.isPresent()) {
            tell(handle, run, EventKind.CANCEL_REQUESTED, null);
            return () -> store.tellReady(List.of(topic.get()));
        }
        if (requestCancel(handle, run)) {
            tell(handle, run, EventKind.CANCEL_REQUESTED, null);
            return () -> store.tellRequested(Signals.hash(run));
        }
        var status = statusOf(handle, run);
        return switch (status) {
            case CANCELLED -> NO_EFFECT;
            case COMPLETED, FAILED ->
                throw new InvalidState("Run %s is %s: it has ended and cannot be cancelled.".formatted(run, status));
            case PENDING, RUNNING, SLEEPING, PAUSED -> null;
        };
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
                tell(handle, run, EventKind.CANCELLED, "terminated: " + reason);
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
                tell(handle, run, EventKind.PAUSED, null);
                return NO_EFFECT;
            }
            if (requestPause(handle, run)) {
                tell(handle, run, EventKind.PAUSE_REQUESTED, null);
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
                tell(handle, run, EventKind.RESUMED, null);
                return () -> store.tellReady(List.of(topic.get()));
            }
            if (withdrawPause(handle, run)) {
                tell(handle, run, EventKind.RESUMED, "before it was paused");
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
                       due_at = coalesce(due_at, :now),
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
            settle(handle -> retry(handle, run));
        } catch (Conflict taken) {
            throw keyTaken(run);
        }
    }

    /** Whom to tell after the commit, or null if the run moved meanwhile. */
    @Nullable
    Runnable retry(Handle handle, RunId run) {
        var ended = retryable(handle, run);
        var topic = retryEnded(handle, run, ended.lease().epoch());
        if (topic.isEmpty()) {
            return null;
        }
        failedSteps.forget(handle, run, failedStep(ended));
        tell(handle, run, EventKind.RETRIED, "by an operator, was " + ended.status());
        return () -> store.tellReady(List.of(topic.get()));
    }

    private RunInfo retryable(Handle handle, RunId run) {
        var info = reads.find(handle, run);
        if (info == null) {
            throw unknown(run);
        }
        boolean deleted = info.times().deleted() != null;
        if (deleted || info.status() != RunStatus.FAILED && info.status() != RunStatus.CANCELLED) {
            throw new InvalidState("Run %s is %s: only FAILED and CANCELLED runs that are not deleted can be retried."
                    .formatted(run, deleted ? "deleted" : info.status()));
        }
        if (info.compensates() && failedSteps.isFullyUndone(handle, run)) {
            throw new InvalidState(
                    "Run %s is %s and its steps were undone, so there is nothing to go on from. Fork it from its first step, or trigger a new run."
                            .formatted(run, info.status()));
        }
        if (info.idempotencyKey() != null && isKeyTaken(handle, info)) {
            throw keyTaken(run);
        }
        return info;
    }

    private boolean isKeyTaken(Handle handle, RunInfo run) {
        var sql = """
                SELECT run_id
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND idempotency_key = :key
                   AND idempotency_key IS NOT NULL
                   AND deleted_at IS NULL
                   AND (key_policy = 'FOREVER' OR status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED'))
                   AND run_id <> :run
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run.id()))
                .bind("namespace", run.namespace())
                .bind("key", run.idempotencyKey())
                .bind("run", run.id())
                .mapTo(RunId.class)
                .findFirst()
                .isPresent();
    }

    private static Conflict keyTaken(RunId run) {
        return new Conflict(
                "Run %s cannot be retried: another run has its idempotency key now. Cancel or delete that one first."
                        .formatted(run));
    }

    /** The error of a run that was cancelled may be that of an attempt long before. */
    private static @Nullable String failedStep(RunInfo ended) {
        var error = ended.error();
        return error == null || ended.status() != RunStatus.FAILED ? null : error.step();
    }

    /** A run that has been claimed since is not the one that was looked at. */
    private Optional<Integer> retryEnded(Handle handle, RunId run, long epoch) {
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
                   AND lease_epoch = :epoch
                   AND status IN ('FAILED', 'CANCELLED')
                   AND deleted_at IS NULL
                RETURNING namespace, queue
                """;
        return topic(bind(handle.createQuery(database.sql(sql)), handle, run).bind("epoch", epoch));
    }

    void delete(RunId run, String reason) {
        settle(handle -> delete(handle, run, reason));
    }

    /** Deletes the run if it is not deleted yet. */
    Runnable delete(Handle handle, RunId run, String reason) {
        var sql = """
                UPDATE steadwork.run
                   SET deleted_at = :now,
                       deleted_reason = :reason,
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND deleted_at IS NULL
                """;
        int deleted = bind(handle.createUpdate(database.sql(sql)), handle, run)
                .bind("reason", Rows.storable(reason))
                .execute();
        var status = statusOf(handle, run);
        if (deleted == 0) {
            return NO_EFFECT;
        }
        tell(handle, run, EventKind.DELETED, reason);
        if (status.isTerminal()) {
            return Untold.CHANGED;
        }
        var effects = new Effects();
        var now = database.now(handle);
        families.lost(handle, run, deleted(run, reason), now, effects);
        if (status != RunStatus.RUNNING) {
            families.endChildren(handle, run, now, effects);
        }
        return () -> effects.tell(store);
    }

    private void tell(Handle handle, RunId run, EventKind kind, @Nullable String detail) {
        events.add(handle, NewEvent.of(run, kind, detail, by));
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
                .orElseThrow(() -> unknown(run));
    }

    private static NotFound unknown(RunId run) {
        return new NotFound("There is no run %s.".formatted(run));
    }

    private boolean changes(Handle handle, String sql, RunId run) {
        return bind(handle.createUpdate(database.sql(sql)), handle, run).execute() > 0;
    }

    private Optional<Integer> changedTopic(Handle handle, String sql, RunId run) {
        return topic(bind(handle.createQuery(database.sql(sql)), handle, run));
    }

    private static Optional<Integer> topic(Query changed) {
        return changed.map(row ->
                        Signals.topic(row.getColumn("namespace", String.class), row.getColumn("queue", String.class)))
                .findOne();
    }

    private <S extends SqlStatement<S>> S bind(S statement, Handle handle, RunId run) {
        return statement.bind("shard", Shards.of(run)).bind("run", run).bind("now", database.now(handle));
    }
}
