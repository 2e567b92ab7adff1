package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.store.By;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Signals;
import dev.steadwork.store.StepRecord;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** New runs that go on from a step of another run. They copy what is recorded of it now, whatever it is doing. */
final class Forks {
    private static final String ORIGIN_TAG = "forked-from";
    private static final int MAX_STEPS_NAMED = 20;

    private final Database database;
    private final JdbcStore store;
    private final Reads reads;
    private final Events events;
    private final By by;

    Forks(Database database, JdbcStore store, Events events, By by) {
        this.database = database;
        this.store = store;
        this.reads = new Reads(database);
        this.events = events;
        this.by = by;
    }

    RunId fork(RunId origin, String step, @Nullable Payload input) {
        var fork = RunIds.beside(origin);
        int topic = database.inTransaction(handle -> {
            var info = forkable(handle, origin);
            int position = position(handle, origin, step);
            insertRun(handle, info, fork, input);
            copySteps(handle, origin, fork, position);
            copyAttempts(handle, origin, fork);
            events.add(handle, NewEvent.of(origin, EventKind.FORKED, "at step %s as %s".formatted(step, fork), by));
            events.add(handle, NewEvent.of(fork, EventKind.CREATED, "from %s at step %s".formatted(origin, step), by));
            return Signals.topic(info.namespace(), info.queue());
        });
        store.tellReady(List.of(topic));
        return fork;
    }

    private RunInfo forkable(Handle handle, RunId origin) {
        var info = reads.find(handle, origin);
        if (info == null) {
            throw new NotFound("There is no run %s.".formatted(origin));
        }
        if (info.times().deleted() != null) {
            throw deleted(origin);
        }
        return info;
    }

    private static InvalidState deleted(RunId origin) {
        return new InvalidState("Run %s is deleted and cannot be forked. Trigger a new run instead.".formatted(origin));
    }

    private int position(Handle handle, RunId origin, String step) {
        var recorded = recorded(handle, origin);
        return recorded.stream()
                .filter(key -> key.label().equals(step))
                .findFirst()
                .orElseThrow(() -> unknownStep(origin, step, recorded))
                .position();
    }

    /** Steps with an outcome, and those that are still tried again. */
    private List<StepRecord.Key> recorded(Handle handle, RunId origin) {
        var sql = """
                SELECT name, occurrence, position
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                UNION
                SELECT name, occurrence, position
                  FROM steadwork.step_attempt
                 WHERE shard = :shard
                   AND run_id = :run
                 ORDER BY position
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(origin))
                .bind("run", origin)
                .map(Rows::stepKey)
                .list();
    }

    private static NotFound unknownStep(RunId origin, String step, List<StepRecord.Key> recorded) {
        if (recorded.isEmpty()) {
            return new NotFound("Run %s has no step '%s': none is recorded yet. Trigger a new run instead."
                    .formatted(origin, step));
        }
        var names = recorded.stream()
                .limit(MAX_STEPS_NAMED)
                .map(StepRecord.Key::label)
                .collect(Collectors.joining(", "));
        int others = recorded.size() - MAX_STEPS_NAMED;
        return new NotFound("Run %s has no step '%s'. Recorded are: %s%s."
                .formatted(origin, step, names, others > 0 ? " and %d more".formatted(others) : ""));
    }

    /** Its epoch is that of a run claimed before: the first claim of a run does not look for steps. */
    private void insertRun(Handle handle, RunInfo origin, RunId fork, @Nullable Payload input) {
        var sql = """
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, lease_epoch, created_at, updated_at,
                     deadline, version, external_id, retry, tags, input_type, input, concurrency_key)
                SELECT shard, :fork, namespace, type, queue, 'PENDING', priority, :now, 1, :now, :now,
                       CASE WHEN deadline > :now THEN deadline END,
                       version, external_id, retry, :tags,
                       CASE WHEN :sameInput THEN input_type ELSE :inputType END,
                       CASE WHEN :sameInput THEN input ELSE :input END,
                       concurrency_key
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                   AND deleted_at IS NULL
                """;
        var other = input == null ? Payload.NONE : input;
        var tags = new TreeMap<>(origin.tags());
        tags.put(ORIGIN_TAG, origin.id().toString());
        int inserted = handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.of(origin.id()))
                .bind("run", origin.id())
                .bind("fork", fork)
                .bind("now", database.now(handle))
                .bind("tags", Rows.tagsJson(tags))
                .bind("sameInput", input == null)
                .bind("inputType", Rows.payloadType(other))
                .bind("input", Rows.payloadBytes(other))
                .execute();
        if (inserted == 0) {
            throw deleted(origin.id());
        }
    }

    /** Undo steps are registered anew by the handler: those that were executed undid what the old run had done. */
    private void copySteps(Handle handle, RunId origin, RunId fork, int before) {
        var sql = """
                INSERT INTO steadwork.step
                    (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at,
                     error, child_run_id, input_type, input, output_type, output)
                SELECT shard, :fork, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at,
                       error, child_run_id, input_type, input, output_type, output
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND position < :before
                   AND status IN ('COMPLETED', 'FAILED')
                   AND kind <> 'UNDO'
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.of(origin))
                .bind("run", origin)
                .bind("fork", fork)
                .bind("before", before)
                .execute();
    }

    private void copyAttempts(Handle handle, RunId origin, RunId fork) {
        var sql = """
                INSERT INTO steadwork.step_attempt
                    (shard, run_id, name, occurrence, attempt, position, kind, error, started_at, finished_at)
                SELECT a.shard, :fork, a.name, a.occurrence, a.attempt, a.position, a.kind, a.error, a.started_at,
                       a.finished_at
                  FROM steadwork.step_attempt AS a
                  JOIN steadwork.step AS copied
                    ON copied.shard = :shard
                   AND copied.run_id = :fork
                   AND copied.name = a.name
                   AND copied.occurrence = a.occurrence
                 WHERE a.shard = :shard
                   AND a.run_id = :run
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.of(origin))
                .bind("run", origin)
                .bind("fork", fork)
                .execute();
    }
}
