package dev.steadwork.store.jdbc;

import dev.steadwork.store.Definition;
import dev.steadwork.store.WorkerRegistration;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Who is there: workflow types and the workers that serve them. */
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

    void registerWorker(WorkerRegistration worker) {
        var sql = """
                INSERT INTO steadwork.worker
                    (namespace, worker_id, name, host, pid, status, concurrency, queues, type_prefixes, registered_at,
                     heartbeat_at)
                VALUES
                    (:namespace, :worker, :name, :host, :pid, 'ONLINE', :concurrency, :queues, :prefixes, :now, :now)
                ON CONFLICT (namespace, worker_id) DO UPDATE
                   SET status = 'ONLINE',
                       concurrency = excluded.concurrency,
                       active = 0,
                       queues = excluded.queues,
                       type_prefixes = excluded.type_prefixes,
                       heartbeat_at = excluded.heartbeat_at
                """;
        database.inTransaction(handle -> {
            handle.createUpdate(database.sql(sql))
                    .bind("namespace", worker.namespace())
                    .bind("worker", worker.id())
                    .bind("name", worker.name())
                    .bind("host", worker.host())
                    .bind("pid", worker.pid())
                    .bind("concurrency", worker.concurrency())
                    .bind("queues", Rows.listJson(worker.queues()))
                    .bind("prefixes", Rows.listJson(worker.typePrefixes()))
                    .bind("now", database.now(handle))
                    .execute();
            replaceTypes(handle, worker);
            return worker;
        });
    }

    private void replaceTypes(Handle handle, WorkerRegistration worker) {
        var delete = """
                DELETE FROM steadwork.worker_type
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        var insert = """
                INSERT INTO steadwork.worker_type (namespace, type, worker_id)
                VALUES (:namespace, :type, :worker)
                ON CONFLICT DO NOTHING
                """;
        handle.createUpdate(database.sql(delete))
                .bind("namespace", worker.namespace())
                .bind("worker", worker.id())
                .execute();
        var batch = handle.prepareBatch(database.sql(insert));
        for (var type : worker.types()) {
            batch.bind("namespace", worker.namespace())
                    .bind("type", type)
                    .bind("worker", worker.id())
                    .add();
        }
        if (batch.size() > 0) {
            batch.execute();
        }
    }

    void deregisterWorker(String namespace, String workerId) {
        var sql = """
                UPDATE steadwork.worker
                   SET status = 'OFFLINE',
                       active = 0
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                .bind("namespace", namespace)
                .bind("worker", workerId)
                .execute());
    }
}
