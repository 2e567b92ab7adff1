package dev.steadwork.store.jdbc;

import dev.steadwork.QueueStats;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/**
 * Counts the runs of queues that have not ended, through the indexes that carry them and never through those that have. Each
 * count ends at a limit.
 */
final class QueueCounts {
    private final Database database;
    private final int limit;

    QueueCounts(Database database) {
        this(database, QueueStats.COUNTED);
    }

    QueueCounts(Database database, int limit) {
        this.database = database;
        this.limit = limit;
    }

    /** What was found of a type; {@code since} is when its oldest ready run became ready. */
    private static final class Tally {
        private long ready;
        private long sleeping;
        private long running;
        private long paused;
        private @Nullable Instant since;

        void add(String status, long runs, @Nullable Instant due) {
            switch (status) {
                case "PENDING" -> {
                    ready += runs;
                    since = due;
                }
                case "RUNNING" -> running += runs;
                case "PAUSED" -> paused += runs;
                default -> sleeping += runs;
            }
        }

        @Nullable
        Duration age(Instant now) {
            if (since == null) {
                return null;
            }
            return since.isAfter(now) ? Duration.ZERO : Duration.between(since, now);
        }
    }

    private static final class Queue {
        private final Map<String, Tally> types = new TreeMap<>();
        private boolean atLeast;

        Tally type(String name) {
            return types.computeIfAbsent(name, first -> new Tally());
        }
    }

    List<QueueStats> stats(String namespace) {
        return database.read(handle -> {
            var now = database.now(handle);
            var queues = new TreeMap<String, Queue>();
            definedQueues(handle, namespace).forEach(queue -> queues.put(queue, new Queue()));
            for (var queue : busyQueues(handle, namespace)) {
                count(handle, namespace, queue, queues.computeIfAbsent(queue, first -> new Queue()));
            }
            countPaused(handle, namespace, queues);
            var stats = new ArrayList<QueueStats>();
            queues.forEach((name, queue) -> stats.add(stats(name, queue, now)));
            return List.copyOf(stats);
        });
    }

    private static QueueStats stats(String name, Queue queue, Instant now) {
        var types = new ArrayList<QueueStats.OfType>();
        queue.types.forEach((type, tally) -> types.add(
                new QueueStats.OfType(type, tally.ready, tally.sleeping, tally.running, tally.paused, tally.age(now))));
        return new QueueStats(
                name,
                types.stream().mapToLong(QueueStats.OfType::ready).sum(),
                types.stream().mapToLong(QueueStats.OfType::sleeping).sum(),
                types.stream().mapToLong(QueueStats.OfType::running).sum(),
                types.stream().mapToLong(QueueStats.OfType::paused).sum(),
                queue.types.values().stream()
                        .map(tally -> tally.age(now))
                        .filter(age -> age != null)
                        .max(Comparator.naturalOrder())
                        .orElse(null),
                queue.atLeast,
                types);
    }

    private Set<String> definedQueues(Handle handle, String namespace) {
        var sql = """
                SELECT DISTINCT queue
                  FROM steadwork.definition
                 WHERE namespace = :namespace
                """;
        return new TreeSet<>(handle.createQuery(database.sql(sql))
                .bind("namespace", namespace)
                .mapTo(String.class)
                .list());
    }

    private Set<String> busyQueues(Handle handle, String namespace) {
        var sql = database.dialect().queues().selectBusyQueues();
        return new TreeSet<>(handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .mapTo(String.class)
                .list());
    }

    private void count(Handle handle, String namespace, String name, Queue queue) {
        var sql = database.dialect().queues().countQueue();
        var parts = new TreeMap<String, Long>();
        handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", name)
                .bind("limit", limit)
                .map(row -> {
                    add(row, queue);
                    return Map.entry(row.getColumn("part", String.class), row.getColumn("runs", Long.class));
                })
                .forEach(part -> parts.merge(part.getKey(), part.getValue(), Long::sum));
        queue.atLeast |= parts.values().stream().anyMatch(runs -> runs >= limit);
    }

    private static void add(RowView row, Queue queue) {
        queue.type(row.getColumn("type", String.class))
                .add(
                        row.getColumn("status", String.class),
                        row.getColumn("runs", Long.class),
                        Rows.time(row, "due_at"));
    }

    private void countPaused(Handle handle, String namespace, Map<String, Queue> queues) {
        var sql = """
                SELECT queue, 'PAUSED' AS status, type, count(*) AS runs, min(due_at) AS due_at
                  FROM (SELECT queue, type, due_at
                          FROM steadwork.run
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND status = 'PAUSED'
                           AND deleted_at IS NULL
                         LIMIT :limit) AS paused
                 GROUP BY queue, type
                """;
        long paused = handle
                .createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("limit", limit)
                .map(row -> {
                    add(row, queues.computeIfAbsent(row.getColumn("queue", String.class), first -> new Queue()));
                    return row.getColumn("runs", Long.class);
                })
                .stream()
                .mapToLong(Long::longValue)
                .sum();
        if (paused >= limit) {
            queues.values().forEach(queue -> queue.atLeast = true);
        }
    }
}
