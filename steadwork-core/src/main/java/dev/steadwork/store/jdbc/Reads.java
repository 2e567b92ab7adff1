package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.StepInfo;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.StepRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** Questions about runs. */
final class Reads {
    private static final RunId FIRST = new RunId(new UUID(0, 0));
    private static final RunId LAST = new RunId(new UUID(-1, -1));

    /** How far the clock of the process that made a run's id may be off before lists by time miss the run. */
    private static final Duration CLOCK_SLACK = Duration.ofDays(1);

    private final Database database;

    Reads(Database database) {
        this.database = database;
    }

    @Nullable
    RunInfo find(RunId run) {
        return database.read(handle -> find(handle, run));
    }

    @Nullable
    RunInfo find(Handle handle, RunId run) {
        var sql = """
                SELECT run_id, namespace, type, queue, status, priority, due_at, lease_epoch, attempt, lost_leases, worker,
                       created_at, started_at, finished_at, paused_at, updated_at, deadline, cancel_requested_at,
                       pause_requested_at, idempotency_key, key_policy, version, external_id, parent_run_id, parent_step,
                       retry, tags, step_name, step_since, error, deleted_at, deleted_reason, concurrency_key,
                       compensates IS NOT NULL AS compensates
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                """;
        return ofRun(handle, sql, run).map(Rows::runInfo).findOne().orElse(null);
    }

    @Nullable
    Payload input(RunId run) {
        var sql = """
                SELECT input_type, input
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                """;
        return database.read(handle -> ofRun(handle, sql, run)
                .map(row -> Rows.payload(row, "input"))
                .findOne()
                .orElse(null));
    }

    List<RunEnd> ends(Collection<RunId> runs) {
        var byShard = runs.stream().distinct().collect(Collectors.groupingBy(Shards::of));
        var ends = new ArrayList<RunEnd>();
        byShard.forEach((shard, ids) -> ends.addAll(ends(shard, ids)));
        return ends;
    }

    private List<RunEnd> ends(int shard, List<RunId> runs) {
        var found = database.read(handle -> {
            var query = handle.createQuery(database.sql(database.dialect().selectEnds()))
                    .bind("shard", shard);
            database.dialect()
                    .bindList(query, "runs", runs.stream().map(RunId::toString).toList());
            return query.map(Rows::runEnd).list();
        });
        var missing = new HashSet<>(runs);
        found.forEach(end -> missing.remove(end.run()));
        var ends = new ArrayList<RunEnd>();
        for (var end : found) {
            if (end.status() != null && end.status().isTerminal()) {
                ends.add(end);
            }
        }
        missing.forEach(run -> ends.add(new RunEnd(run, null, Payload.NONE, null)));
        return ends;
    }

    /** Steps in the order of their calls: outcomes, steps that are tried again, and the one that executes now. */
    List<StepInfo> steps(RunId run) {
        return database.read(handle -> {
            var history = new StepHistory();
            outcomes(handle, run).forEach(history::add);
            attempts(handle, run).forEach(history::add);
            runningStep(handle, run).forEach(history::add);
            return history.steps();
        });
    }

    private List<StepRecord> outcomes(Handle handle, RunId run) {
        var sql = """
                SELECT name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at, error,
                       input_type, input, output_type, output, child_run_id
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                 ORDER BY position
                """;
        return ofRun(handle, sql, run)
                .map(row -> Rows.stepRecord(row, Rows.payload(row, "input")))
                .list();
    }

    private List<AttemptRecord> attempts(Handle handle, RunId run) {
        var sql = """
                SELECT name, occurrence, attempt, position, kind, error, started_at, finished_at
                  FROM steadwork.step_attempt
                 WHERE shard = :shard
                   AND run_id = :run
                 ORDER BY position, attempt
                """;
        return ofRun(handle, sql, run).map(Rows::attemptRecord).list();
    }

    private List<RunInfo.RunningStep> runningStep(Handle handle, RunId run) {
        var sql = """
                SELECT step_name, step_since
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                   AND status = 'RUNNING'
                   AND step_name IS NOT NULL
                   AND step_since IS NOT NULL
                """;
        return ofRun(handle, sql, run)
                .map(row -> new RunInfo.RunningStep(
                        row.getColumn("step_name", String.class), row.getColumn("step_since", Instant.class)))
                .list();
    }

    List<RunInfo> list(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit) {
        return database.read(handle -> matching(handle, database.dialect().selectRuns(), namespace, filter, before)
                .bind("limit", limit)
                .map(Rows::runInfo)
                .list());
    }

    List<RunId> listIds(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit) {
        return database.read(handle -> matching(handle, database.dialect().selectRunIds(), namespace, filter, before)
                .bind("limit", limit)
                .mapTo(RunId.class)
                .list());
    }

    long count(String namespace, RunQuery.Filter filter) {
        return database.read(handle -> matching(handle, database.dialect().countRuns(), namespace, filter, null)
                .mapTo(Long.class)
                .one());
    }

    private Query matching(
            Handle handle, String sql, String namespace, RunQuery.Filter filter, @Nullable RunId before) {
        var query = handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("from", madeAfter(filter.createdAfter()))
                .bind("before", earlier(before, madeBefore(filter.createdBefore())))
                .bind("type", filter.type())
                .bind("queue", filter.queue())
                .bind("tags", Rows.tagsJson(filter.tags()))
                .bind("externalId", filter.externalId())
                .bindByType("createdAfter", filter.createdAfter(), Instant.class)
                .bindByType("createdBefore", filter.createdBefore(), Instant.class)
                .bindByType("parent", filter.parent(), RunId.class)
                .bind("errorText", filter.errorText())
                .bind("withDeleted", filter.withDeleted());
        database.dialect()
                .bindList(
                        query,
                        "statuses",
                        filter.statuses().stream().map(Enum::name).toList());
        return query;
    }

    private static RunId earlier(@Nullable RunId one, RunId other) {
        return one != null && one.compareTo(other) < 0 ? one : other;
    }

    private static RunId madeAfter(@Nullable Instant time) {
        return time == null ? FIRST : RunIds.atTime(time.minus(CLOCK_SLACK));
    }

    private static RunId madeBefore(@Nullable Instant time) {
        return time == null ? LAST : RunIds.atTime(time.plus(CLOCK_SLACK));
    }

    private Query ofRun(Handle handle, String sql, RunId run) {
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run);
    }
}
