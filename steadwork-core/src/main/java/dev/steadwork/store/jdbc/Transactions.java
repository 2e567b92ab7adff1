package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.ErrorCode;
import dev.steadwork.LeaseLost;
import dev.steadwork.RunId;
import dev.steadwork.SteadworkException;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Transact;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/**
 * Transactional steps. The run is locked only after the application's SQL, right before the commit: its lease can be
 * prolonged meanwhile, and if it was lost everything is rolled back.
 */
final class Transactions {
    private final Database database;
    private final Events events;

    Transactions(Database database, Events events) {
        this.database = database;
        this.events = events;
    }

    /** Carries what the application's code threw through the transaction, which it rolls back. */
    private static final class Abort extends RuntimeException {
        private final transient Throwable failure;

        Abort(Throwable failure) {
            super(null, null, false, false); // no cause: a failure of SQL would be taken for one of the store
            this.failure = failure;
        }
    }

    StepRecord transact(RunId run, long epoch, StepRecord.Key key, Transact work) throws Transact.Failed {
        try {
            return database.inTransaction(handle -> {
                var earlier = find(handle, run, key);
                return earlier.isPresent()
                        ? confirmed(handle, run, epoch, earlier.get())
                        : commit(handle, run, epoch, work);
            });
        } catch (Conflict committedBefore) {
            // The answer to an earlier commit was lost, and that commit came through after the look.
            return database.read(handle -> find(handle, run, key))
                    .orElseThrow(() -> new Transact.Failed(committedBefore));
        } catch (Abort failed) {
            throw new Transact.Failed(failed.failure);
        } catch (LeaseLost lost) {
            throw lost;
        } catch (SteadworkException refused) {
            // Such as a constraint that is checked at the commit: the step's own failure, unless the database is away.
            if (isTransient(refused)) {
                throw refused;
            }
            throw new Transact.Failed(refused);
        }
    }

    private StepRecord commit(Handle handle, RunId run, long epoch, Transact work) {
        var outcome = confirmed(handle, run, epoch, call(handle.getConnection(), work));
        insert(handle, run, outcome);
        events.add(handle, NewEvent.completed(run, epoch, outcome));
        return outcome;
    }

    /** The outcome, if the run is still this worker's: what another one has kept is not for those who lost it. */
    private StepRecord confirmed(Handle handle, RunId run, long epoch, StepRecord outcome) {
        if (!isHeld(handle, run, epoch)) {
            throw new LeaseLost("Run %s: another worker has it now; the transaction of step %s was rolled back."
                    .formatted(run, outcome.key().label()));
        }
        return outcome;
    }

    private StepRecord call(Connection connection, Transact work) {
        try {
            return work.run(GuardedConnection.of(connection, database.dialect().hasSavepoints()));
        } catch (SQLException e) {
            var known = SqlErrors.translate(e, "executing a transactional step in " + database.place());
            throw isAway(known) ? known : new Abort(e);
        } catch (Throwable failure) {
            throw new Abort(failure);
        }
    }

    /** Whether the connection was lost: that is no failure of the application's SQL, and it is executed again. */
    private static boolean isAway(RuntimeException failure) {
        return failure instanceof SteadworkException known && known.code() == ErrorCode.UNAVAILABLE;
    }

    /** Whether the database, and not the application's SQL, is the reason: the step is then executed again. */
    private static boolean isTransient(RuntimeException failure) {
        return failure instanceof SteadworkException known && known.code().retryable();
    }

    private boolean isHeld(Handle handle, RunId run, long epoch) {
        // Changes nothing that counts: it locks the run until the commit.
        var sql = """
                UPDATE steadwork.run
                   SET updated_at = :now
                 WHERE shard = :shard
                   AND run_id = :run
                   AND lease_epoch = :epoch
                   AND status = 'RUNNING'
                """;
        return handle.createUpdate(database.sql(sql))
                        .bind("shard", Shards.of(run))
                        .bind("run", run)
                        .bind("epoch", epoch)
                        .bind("now", database.now(handle))
                        .execute()
                > 0;
    }

    private void insert(Handle handle, RunId run, StepRecord step) {
        // Without ON CONFLICT: a step that is there already means that this transaction must not commit.
        var sql = """
                INSERT INTO steadwork.step
                    (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at,
                     input_type, input, output_type, output)
                VALUES
                    (:shard, :run, :name, :occurrence, :position, :kind, :status, :attempt, :startedAt, :finishedAt,
                     :inputType, :input, :outputType, :output)
                """;
        handle.createUpdate(database.sql(sql))
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
                .bind("inputType", Rows.payloadType(step.input()))
                .bind("input", Rows.payloadBytes(step.input()))
                .bind("outputType", Rows.payloadType(step.output()))
                .bind("output", Rows.payloadBytes(step.output()))
                .execute();
    }

    private Optional<StepRecord> find(Handle handle, RunId run, StepRecord.Key key) {
        var sql = """
                SELECT name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at, error,
                       input_type, input, output_type, output, child_run_id
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND name = :name
                   AND occurrence = :occurrence
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("name", key.name())
                .bind("occurrence", key.occurrence())
                .map(row -> Rows.stepRecord(row, Rows.payload(row, "input")))
                .findOne();
    }
}
