package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.store.StepRecord;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/**
 * What an operator's retry forgets. A failed step that the handler caught and went on from stays: if it succeeded now, the
 * handler would take another path than the one that is recorded behind it.
 */
final class FailedSteps {
    private final Database database;

    FailedSteps(Database database) {
        this.database = database;
    }

    /**
     * Forgets the step that failed the run and failed ones after it; if none is named, those that nothing finished after.
     *
     * @param failedStep the label of the step that failed the run, if it was one
     */
    void forget(Handle handle, RunId run, @Nullable String failedStep) {
        var failed = failed(handle, run);
        if (isUndone(handle, run)) {
            forgetUndos(handle, run);
        } else if (!failed.isEmpty()) {
            int from = failed.stream()
                    .filter(step -> step.label().equals(failedStep))
                    .findFirst()
                    .map(StepRecord.Key::position)
                    .orElseGet(() -> lastPassed(handle, run) + 1);
            forgetFrom(handle, run, from);
        }
        forgetAttemptsWithoutOutcome(handle, run);
    }

    /** Whether the run executed its undo steps, and all succeeded: there is nothing left to go on from. */
    boolean isFullyUndone(Handle handle, RunId run) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM steadwork.step
                        WHERE shard = :shard
                          AND run_id = :run
                          AND kind = 'UNDO'
                          AND status = 'FAILED')
                """;
        return isUndone(handle, run)
                && !bind(handle.createQuery(database.sql(sql)), run)
                        .mapTo(Boolean.class)
                        .one();
    }

    private boolean isUndone(Handle handle, RunId run) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM steadwork.step
                        WHERE shard = :shard
                          AND run_id = :run
                          AND kind = 'UNDO'
                          AND occurrence = 0)
                """;
        return bind(handle.createQuery(database.sql(sql)), run)
                .mapTo(Boolean.class)
                .one();
    }

    /** Only they are executed again: the rest of the run is undone. */
    private void forgetUndos(Handle handle, RunId run) {
        var sql = """
                DELETE FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND kind = 'UNDO'
                   AND status = 'FAILED'
                """;
        bind(handle.createUpdate(database.sql(sql)), run).execute();
    }

    private List<StepRecord.Key> failed(Handle handle, RunId run) {
        var sql = """
                SELECT name, occurrence, position
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'FAILED'
                """;
        return bind(handle.createQuery(database.sql(sql)), run)
                .map(Rows::stepKey)
                .list();
    }

    /** The last call that did not fail. Occurrence 0 is no call but the decision to compensate. */
    private int lastPassed(Handle handle, RunId run) {
        var sql = """
                SELECT coalesce(max(position), 0)
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status <> 'FAILED'
                   AND occurrence > 0
                """;
        return bind(handle.createQuery(database.sql(sql)), run)
                .mapTo(Integer.class)
                .one();
    }

    private void forgetFrom(Handle handle, RunId run, int position) {
        var sql = """
                DELETE FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'FAILED'
                   AND position >= :position
                """;
        bind(handle.createUpdate(database.sql(sql)), run)
                .bind("position", position)
                .execute();
    }

    private void forgetAttemptsWithoutOutcome(Handle handle, RunId run) {
        var sql = """
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
        bind(handle.createUpdate(database.sql(sql)), run).execute();
    }

    private static <S extends SqlStatement<S>> S bind(S statement, RunId run) {
        return statement.bind("shard", Shards.of(run)).bind("run", run);
    }
}
