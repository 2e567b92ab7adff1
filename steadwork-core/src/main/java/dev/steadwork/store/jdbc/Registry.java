package dev.steadwork.store.jdbc;

import dev.steadwork.store.Definition;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The workflow types that somebody registered. */
final class Registry {
    private final Database database;

    Registry(Database database) {
        this.database = database;
    }

    void register(String namespace, Collection<Definition> definitions) {
        var sql = """
                INSERT INTO steadwork.definition
                    (namespace, type, queue, retry, timeout_ms, lease_ms, dead_letter, key_policy, registered_at)
                VALUES
                    (:namespace, :type, :queue, :retry, :timeout, :lease, :deadLetter, :keyPolicy, :now)
                ON CONFLICT (namespace, type) DO UPDATE
                   SET queue = excluded.queue,
                       retry = excluded.retry,
                       timeout_ms = excluded.timeout_ms,
                       lease_ms = excluded.lease_ms,
                       dead_letter = excluded.dead_letter,
                       key_policy = excluded.key_policy,
                       registered_at = excluded.registered_at
                """;
        if (definitions.isEmpty()) {
            return;
        }
        // In one order everywhere, so that two processes that start together do not deadlock.
        var ordered = definitions.stream()
                .sorted(Comparator.comparing(Definition::type))
                .toList();
        database.inTransaction(handle -> {
            var now = database.now(handle);
            var batch = handle.prepareBatch(database.sql(sql));
            for (var definition : ordered) {
                var options = definition.options();
                var lease = options.lease();
                batch.bind("namespace", namespace)
                        .bind("type", definition.type())
                        .bind("queue", options.queue())
                        .bind("retry", Rows.retryJson(options.chosenRetry()))
                        .bind("timeout", millis(options.timeout()))
                        .bind("lease", lease == null ? null : lease.duration().toMillis())
                        .bind("deadLetter", options.deadLetter())
                        .bind("keyPolicy", options.keyPolicy().name())
                        .bind("now", now)
                        .add();
            }
            return batch.execute();
        });
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    Set<String> queuesOfPrefixes(String namespace, Collection<String> typePrefixes) {
        var sql = """
                SELECT DISTINCT queue
                  FROM steadwork.definition
                 WHERE namespace = :namespace
                   AND substr(type, 1, length(:prefix)) = :prefix
                """;
        return database.read(handle -> {
            var queues = new HashSet<String>();
            for (var prefix : typePrefixes) {
                handle.createQuery(database.sql(sql))
                        .bind("namespace", namespace)
                        .bind("prefix", prefix)
                        .mapTo(String.class)
                        .forEach(queues::add);
            }
            return queues;
        });
    }
}
