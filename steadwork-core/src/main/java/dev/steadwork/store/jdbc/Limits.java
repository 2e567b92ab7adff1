package dev.steadwork.store.jdbc;

import dev.steadwork.QueueLimit;
import dev.steadwork.RunId;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/** The limits of queues: set, taken away, listed. */
final class Limits {
    private final Database database;

    Limits(Database database) {
        this.database = database;
    }

    void limit(String namespace, String queue, QueueLimit limit) {
        var sql = """
                INSERT INTO steadwork.queue_limit
                    (shard, namespace, queue, max_running, max_per_key, rate_count, rate_period, next_key)
                VALUES
                    (:shard, :namespace, :queue, :concurrency, :perKey, :starts, :period, '')
                ON CONFLICT (shard, namespace, queue) DO UPDATE
                   SET max_running = excluded.max_running,
                       max_per_key = excluded.max_per_key,
                       rate_count = excluded.rate_count,
                       rate_period = excluded.rate_period
                """;
        var rate = limit.rate();
        database.inTransaction(handle -> {
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("queue", queue)
                    .bind("concurrency", limit.concurrency())
                    .bind("perKey", limit.perKey())
                    .bind("starts", rate == null ? null : (Integer) rate.starts())
                    .bind("period", rate == null ? null : (Long) Columns.micros(rate.period()))
                    .execute();
            countRunning(handle, namespace, queue);
            if (rate == null) {
                forgetStarts(handle, namespace, queue);
            }
            return queue;
        });
    }

    /** Both conditions on the status: one names the index, the other the runs. */
    private void countRunning(Handle handle, String namespace, String queue) {
        var sql = """
                UPDATE steadwork.run
                   SET limited = true
                 WHERE shard = :shard
                   AND run_id IN (
                       SELECT run_id
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND queue = :queue
                          AND status IN ('SLEEPING', 'RUNNING')
                          AND status = 'RUNNING'
                          AND deleted_at IS NULL
                          AND limited IS NULL)
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .execute();
    }

    /** Not fenced: whoever holds such a run, it counts. */
    void countRunning(String namespace, String queue, Collection<RunId> executing) {
        var sql = """
                UPDATE steadwork.run
                   SET limited = true
                 WHERE shard = :shard
                   AND run_id = :run
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'RUNNING'
                """;
        if (executing.isEmpty()) {
            return;
        }
        database.inTransaction(handle -> {
            var batch = handle.prepareBatch(database.sql(sql));
            for (var run : executing.stream().sorted().toList()) {
                batch.bind("shard", Shards.of(run))
                        .bind("run", run)
                        .bind("namespace", namespace)
                        .bind("queue", queue)
                        .add();
            }
            return batch.execute();
        });
    }

    void unlimit(String namespace, String queue) {
        var sql = """
                DELETE FROM steadwork.queue_limit
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                """;
        database.inTransaction(handle -> {
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("queue", queue)
                    .execute();
            forgetStarts(handle, namespace, queue);
            return queue;
        });
    }

    private void forgetStarts(Handle handle, String namespace, String queue) {
        var sql = """
                DELETE FROM steadwork.queue_start
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .execute();
    }

    Map<String, QueueLimit> all(String namespace) {
        var sql = """
                SELECT queue, max_running, max_per_key, rate_count, rate_period
                  FROM steadwork.queue_limit
                 WHERE shard = :shard
                   AND namespace = :namespace
                 ORDER BY queue
                """;
        return database.read(handle -> {
            var limits = new LinkedHashMap<String, QueueLimit>();
            handle.createQuery(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .map(row -> Map.entry(row.getColumn("queue", String.class), limit(row)))
                    .forEach(found -> limits.put(found.getKey(), found.getValue()));
            return Collections.unmodifiableMap(limits);
        });
    }

    /** How many runs execute under the limit of the queue; of this key, if one is given. */
    long running(String namespace, String queue, @Nullable String key) {
        var sql = """
                SELECT count(*)
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'RUNNING'
                   AND limited
                   AND (:anyKey OR concurrency_key = :key)
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .bind("anyKey", key == null)
                .bind("key", key == null ? "" : key)
                .mapTo(Long.class)
                .one());
    }

    /** How many runs of the queue started within the last while, as far as that is noted. */
    long starts(String namespace, String queue, Duration within) {
        var sql = """
                SELECT coalesce(sum(starts), 0)
                  FROM steadwork.queue_start
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND started_at > :since
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .bind("since", database.now(handle).minus(within))
                .mapTo(Long.class)
                .one());
    }

    static QueueLimit limit(RowView row) {
        return new QueueLimit(
                row.getColumn("max_running", Integer.class), row.getColumn("max_per_key", Integer.class), rate(row));
    }

    private static QueueLimit.@Nullable Rate rate(RowView row) {
        @Nullable Integer starts = row.getColumn("rate_count", Integer.class);
        return starts == null
                ? null
                : new QueueLimit.Rate(starts, Duration.of(row.getColumn("rate_period", Long.class), ChronoUnit.MICROS));
    }
}
