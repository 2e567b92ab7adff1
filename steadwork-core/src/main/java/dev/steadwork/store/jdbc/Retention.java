package dev.steadwork.store.jdbc;

import dev.steadwork.ExpiredRuns;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.RunId;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Swept;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Deletes for good what is no longer kept. It walks the primary key, whose order is that of time, from the oldest run to those
 * that are too young, so it needs no index of its own.
 */
final class Retention {
    /** Runs that one transaction looks at. */
    private static final int PART = 500;

    private static final RunId FIRST = new RunId(new UUID(0, 0));

    private final Database database;

    Retention(Database database) {
        this.database = database;
    }

    /** What ended, or was deleted, before these times is not kept. Nothing is from before 1970. */
    private record Limits(Instant now, Instant completed, Instant failed, Instant cancelled, Instant deleted) {
        static Limits of(NamespaceInfo.Retention keep, Instant now) {
            return new Limits(
                    now,
                    before(now, keep.completed()),
                    before(now, keep.failed()),
                    before(now, keep.cancelled()),
                    before(now, keep.deleted()));
        }

        private static Instant before(Instant now, @Nullable Duration kept) {
            return kept == null ? Instant.EPOCH : now.minus(kept);
        }

        /** No run that was made later has ended before one of the times. */
        RunId youngest() {
            var latest = Stream.of(completed, failed, cancelled, deleted).max(Instant::compareTo);
            return RunIds.atTime(latest.orElse(Instant.EPOCH));
        }
    }

    Swept sweep(String namespace, NamespaceInfo.Retention keep, @Nullable RunId after, boolean countOnly) {
        var from = Objects.requireNonNullElse(after, FIRST);
        return countOnly
                ? database.read(handle -> sweep(handle, namespace, keep, from, true))
                : database.inTransaction(handle -> sweep(handle, namespace, keep, from, false));
    }

    private Swept sweep(Handle handle, String namespace, NamespaceInfo.Retention keep, RunId after, boolean countOnly) {
        var limits = Limits.of(keep, database.now(handle));
        var last = endOfPart(handle, after, limits.youngest());
        var end = Objects.requireNonNullElse(last, limits.youngest());
        var expired = countOnly
                ? count(handle, namespace, limits, after, end)
                : delete(handle, namespace, limits, after, end);
        return new Swept(expired, last);
    }

    private @Nullable RunId endOfPart(Handle handle, RunId after, RunId youngest) {
        var sql = """
                SELECT run_id
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id < :end
                 ORDER BY run_id
                 LIMIT 1 OFFSET :part
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("after", after)
                .bind("end", youngest)
                .bind("part", PART - 1)
                .mapTo(RunId.class)
                .findOne()
                .orElse(null);
    }

    private ExpiredRuns.Count count(Handle handle, String namespace, Limits limits, RunId after, RunId end) {
        var sql = """
                SELECT status, deleted_at
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND namespace = :namespace
                   AND (status = 'COMPLETED' AND finished_at <= :completed
                        OR status = 'FAILED' AND finished_at <= :failed
                        OR status = 'CANCELLED' AND finished_at <= :cancelled
                        OR deleted_at <= :deleted AND (status <> 'RUNNING' OR due_at <= :now))
                """;
        return counted(handle.createQuery(database.sql(sql)), namespace, limits, after, end);
    }

    private ExpiredRuns.Count delete(Handle handle, String namespace, Limits limits, RunId after, RunId end) {
        // A run that a worker still executes is left to it, however long it has been deleted.
        var sql = """
                DELETE FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND namespace = :namespace
                   AND (status = 'COMPLETED' AND finished_at <= :completed
                        OR status = 'FAILED' AND finished_at <= :failed
                        OR status = 'CANCELLED' AND finished_at <= :cancelled
                        OR deleted_at <= :deleted AND (status <> 'RUNNING' OR due_at <= :now))
                RETURNING status, deleted_at
                """;
        var deleted = counted(handle.createQuery(database.sql(sql)), namespace, limits, after, end);
        if (deleted.total() > 0) {
            deleteWhatBelongedToRuns(handle, after, end);
        }
        return deleted;
    }

    private static ExpiredRuns.Count counted(Query query, String namespace, Limits limits, RunId after, RunId end) {
        return query
                .bind("shard", Shards.ONLY)
                .bind("after", after)
                .bind("end", end)
                .bind("namespace", namespace)
                .bind("completed", limits.completed)
                .bind("failed", limits.failed)
                .bind("cancelled", limits.cancelled)
                .bind("deleted", limits.deleted)
                .bind("now", limits.now)
                .map((row, context) -> one(row.getString("status"), row.getObject("deleted_at") != null))
                .stream()
                .reduce(ExpiredRuns.Count.NONE, ExpiredRuns.Count::plus);
    }

    private static ExpiredRuns.Count one(String status, boolean deleted) {
        if (deleted) {
            return new ExpiredRuns.Count(0, 0, 0, 1);
        }
        return switch (status) {
            case "COMPLETED" -> new ExpiredRuns.Count(1, 0, 0, 0);
            case "FAILED" -> new ExpiredRuns.Count(0, 1, 0, 0);
            default -> new ExpiredRuns.Count(0, 0, 1, 0);
        };
    }

    /** Rows whose run is gone: what has a run is visible no earlier than the run. */
    private void deleteWhatBelongedToRuns(Handle handle, RunId after, RunId end) {
        var steps = """
                DELETE FROM steadwork.step AS s
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = s.run_id)
                """;
        var attempts = """
                DELETE FROM steadwork.step_attempt AS a
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = a.run_id)
                """;
        var signals = """
                DELETE FROM steadwork.signal AS m
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = m.run_id)
                """;
        var events = """
                DELETE FROM steadwork.event AS e
                 WHERE shard = :shard
                   AND run_id > :after
                   AND run_id <= :end
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = e.run_id)
                """;
        for (var sql : List.of(steps, attempts, signals, events)) {
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("after", after)
                    .bind("end", end)
                    .execute();
        }
    }
}
