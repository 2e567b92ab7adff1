package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Hands out PENDING runs of SQLite: reads the head of each queue, takes the best, returns them with their steps. */
final class SqliteClaims {
    private final Database database;

    SqliteClaims(Database database) {
        this.database = database;
    }

    record Candidate(RunId run, int priority, Instant dueAt) {
        static final Comparator<Candidate> BEST_FIRST = Comparator.comparingInt(Candidate::priority)
                .reversed()
                .thenComparing(Candidate::dueAt)
                .thenComparing(Candidate::run);
    }

    /** Whether a claim would find anything: one statement for all queues. */
    boolean isAnyReady(Handle handle, ClaimRequest request) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM json_each(:queues) AS q
                        WHERE EXISTS (
                              SELECT 1
                                FROM steadwork.run AS r
                               WHERE shard = :shard
                                 AND namespace = :namespace
                                 AND queue = q.value
                                 AND status = 'PENDING'
                                 AND deleted_at IS NULL
                                 AND CASE
                                     WHEN :prefixes = '[]' THEN r.type IN (SELECT value FROM json_each(:types))
                                     ELSE EXISTS (
                                         SELECT 1
                                           FROM json_each(:prefixes) AS p
                                          WHERE substr(r.type, 1, length(p.value)) = p.value)
                                     END
                                 AND (:versions = '[]' OR version IN (SELECT value FROM json_each(:versions))))) AS ready
                """;
        return SqliteStatement.of(handle, database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queues", Rows.listJson(request.queues()))
                .bind("types", Rows.listJson(request.types()))
                .bind("prefixes", Rows.listJson(request.typePrefixes()))
                .bind("versions", Rows.listJson(request.versions()))
                .first(row -> row.getBoolean("ready"))
                .orElseThrow();
    }

    Claimed claim(Handle handle, ClaimRequest request) {
        var now = database.now(handle);
        var best = request.queues().stream()
                .distinct()
                .flatMap(queue -> headOf(handle, queue, request, request.limit()).stream())
                .sorted(Candidate.BEST_FIRST)
                .limit(request.limit())
                .map(Candidate::run)
                .toList();
        if (best.isEmpty()) {
            return new Claimed(now, List.of());
        }
        return new Claimed(now, take(handle, request, best, now));
    }

    /** The best runs of a queue. */
    List<Candidate> headOf(Handle handle, String queue, ClaimRequest request, int limit) {
        var sql = """
                SELECT run_id, priority, due_at
                  FROM steadwork.run AS r
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'PENDING'
                   AND deleted_at IS NULL
                   AND CASE
                       WHEN :prefixes = '[]' THEN r.type IN (SELECT value FROM json_each(:types))
                       ELSE EXISTS (
                           SELECT 1
                             FROM json_each(:prefixes) AS p
                            WHERE substr(r.type, 1, length(p.value)) = p.value)
                       END
                   AND (:versions = '[]' OR version IN (SELECT value FROM json_each(:versions)))
                 ORDER BY priority DESC, due_at, run_id
                 LIMIT :limit
                """;
        return SqliteStatement.of(handle, database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue)
                .bind("types", Rows.listJson(request.types()))
                .bind("prefixes", Rows.listJson(request.typePrefixes()))
                .bind("versions", Rows.listJson(request.versions()))
                .bind("limit", limit)
                .list(row -> new Candidate(
                        RunId.parse(row.getString("run_id")),
                        row.getInt("priority"),
                        SqliteTime.instant(row.getLong("due_at"))));
    }

    /** Makes the runs RUNNING and returns them in the same order, with their steps. */
    List<ClaimedRun> take(Handle handle, ClaimRequest request, List<RunId> best, Instant now) {
        var sql = """
                UPDATE steadwork.run
                   SET status = 'RUNNING',
                       lease_epoch = lease_epoch + 1,
                       worker = :worker,
                       due_at = :leaseEnd,
                       started_at = coalesce(started_at, :now),
                       updated_at = :now
                 WHERE shard = :shard
                   AND run_id IN (SELECT value FROM json_each(:runs))
                   AND status = 'PENDING'
                RETURNING run_id, type, queue, priority, lease_epoch, attempt, input_type, input, retry, deadline,
                          started_at, lost_leases, cancel_requested_at IS NOT NULL AS cancel_requested,
                          parent_run_id, parent_step, coalesce(depth, 0) AS depth, coalesce(inbox, 0) AS inbox,
                          compensates IS NOT NULL AS compensates
                """;
        var taken = new HashMap<RunId, ClaimedRun>();
        SqliteStatement.of(handle, database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("runs", Rows.listJson(best.stream().map(RunId::toString).toList()))
                .bind("worker", request.worker())
                .bind("leaseEnd", SqliteTime.after(now, request.lease()))
                .bind("now", now)
                .list(SqliteClaims::claimedRun)
                .forEach(run -> taken.put(run.id(), run));
        addSteps(handle, taken);
        return best.stream().map(taken::get).toList();
    }

    private static ClaimedRun claimedRun(ResultSet row) throws SQLException {
        return new ClaimedRun(
                RunId.parse(row.getString("run_id")),
                row.getString("type"),
                row.getString("queue"),
                row.getInt("priority"),
                row.getLong("lease_epoch"),
                row.getInt("attempt"),
                Rows.payload(row.getString("input_type"), row.getBytes("input")),
                Rows.retry(row.getString("retry")),
                SqliteStatement.time(row, "deadline"),
                SqliteTime.instant(row.getLong("started_at")),
                row.getInt("lost_leases"),
                row.getBoolean("cancel_requested"),
                parent(row),
                row.getInt("depth"),
                row.getInt("inbox"),
                row.getBoolean("compensates"),
                new ArrayList<>());
    }

    private static RunInfo.@Nullable Parent parent(ResultSet row) throws SQLException {
        var run = row.getString("parent_run_id");
        return run == null ? null : new RunInfo.Parent(RunId.parse(run), row.getString("parent_step"));
    }

    /** A run that is claimed for the first time has no steps. */
    private void addSteps(Handle handle, Map<RunId, ClaimedRun> taken) {
        var claimedBefore = taken.values().stream()
                .filter(run -> run.epoch() > 1)
                .map(run -> run.id().toString())
                .toList();
        if (claimedBefore.isEmpty()) {
            return;
        }
        var outcomes = """
                SELECT run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at, error,
                       output_type, output, child_run_id
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id IN (SELECT value FROM json_each(:runs))
                 ORDER BY run_id, position
                """;
        // SQLite takes the other columns from the row that has the maximum.
        var retrying = """
                SELECT run_id, name, occurrence, position, kind, 'RETRYING' AS status, max(attempt) AS attempt, started_at,
                       finished_at, NULL AS wake_at, error, NULL AS output_type, NULL AS output,
                       NULL AS child_run_id
                  FROM steadwork.step_attempt a
                 WHERE shard = :shard
                   AND run_id IN (SELECT value FROM json_each(:runs))
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.step s
                        WHERE s.shard = a.shard
                          AND s.run_id = a.run_id
                          AND s.name = a.name
                          AND s.occurrence = a.occurrence)
                 GROUP BY run_id, name, occurrence
                 ORDER BY run_id, position
                """;
        addSteps(handle, outcomes, claimedBefore, taken);
        addSteps(handle, retrying, claimedBefore, taken);
    }

    private void addSteps(Handle handle, String sql, Collection<String> runs, Map<RunId, ClaimedRun> taken) {
        record StepOfRun(RunId run, StepRecord step) {}
        handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("runs", Rows.listJson(runs))
                .map(row -> new StepOfRun(row.getColumn("run_id", RunId.class), Rows.stepRecord(row, Payload.NONE)))
                .forEach(found -> {
                    var run = taken.get(found.run);
                    if (run != null) {
                        run.steps().add(found.step);
                    }
                });
    }
}
