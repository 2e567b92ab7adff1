package dev.steadwork.store.jdbc;

import dev.steadwork.WorkerInfo;
import dev.steadwork.WorkerStatus;
import dev.steadwork.Workers;
import dev.steadwork.store.WorkerRegistration;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** The workers: who they are, what they serve, what is asked of them. */
final class WorkerRegistry {
    private final Database database;
    private final Duration staleAfter;

    WorkerRegistry(Database database, Duration staleAfter) {
        this.database = database;
        this.staleAfter = staleAfter;
    }

    void register(WorkerRegistration worker) {
        var sql = """
                INSERT INTO steadwork.worker
                    (namespace, worker_id, name, host, pid, status, concurrency, queues, type_prefixes, versions,
                     build_version, labels, registered_at, heartbeat_at)
                VALUES
                    (:namespace, :worker, :name, :host, :pid, 'ONLINE', :concurrency, :queues, :prefixes, :versions,
                     :buildVersion, :labels, :now, :now)
                ON CONFLICT (namespace, worker_id) DO UPDATE
                   SET status = 'ONLINE',
                       concurrency = excluded.concurrency,
                       active = 0,
                       queues = excluded.queues,
                       type_prefixes = excluded.type_prefixes,
                       versions = excluded.versions,
                       build_version = excluded.build_version,
                       labels = excluded.labels,
                       drain_requested_at = NULL,
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
                    .bind("versions", worker.versions().isEmpty() ? null : Rows.listJson(worker.versions()))
                    .bind("buildVersion", worker.buildVersion())
                    .bind("labels", Rows.tagsJson(worker.labels()))
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
        ofWorker(handle, delete, worker.namespace(), worker.id());
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

    void reads(String namespace, String workerId, Collection<String> queues) {
        var sql = """
                UPDATE steadwork.worker
                   SET queues = :queues
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                .bind("namespace", namespace)
                .bind("worker", workerId)
                .bind("queues", Rows.listJson(queues))
                .execute());
    }

    boolean deregister(String namespace, String workerId) {
        var sql = """
                UPDATE steadwork.worker
                   SET status = 'OFFLINE',
                       active = 0
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        return database.inTransaction(handle -> ofWorker(handle, sql, namespace, workerId) > 0);
    }

    boolean drain(String namespace, String workerId) {
        var sql = """
                UPDATE steadwork.worker
                   SET status = CASE WHEN status = 'ONLINE' THEN 'DRAINING' ELSE status END,
                       drain_requested_at = :now
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        return database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                        .bind("namespace", namespace)
                        .bind("worker", workerId)
                        .bind("now", database.now(handle))
                        .execute()
                > 0);
    }

    /** Leaves the status to the worker's next heartbeat: it may be draining for a reason of its own. */
    boolean resume(String namespace, String workerId) {
        var sql = """
                UPDATE steadwork.worker
                   SET drain_requested_at = NULL
                 WHERE namespace = :namespace
                   AND worker_id = :worker
                """;
        return database.inTransaction(handle -> ofWorker(handle, sql, namespace, workerId) > 0);
    }

    private int ofWorker(Handle handle, String sql, String namespace, String workerId) {
        return handle.createUpdate(database.sql(sql))
                .bind("namespace", namespace)
                .bind("worker", workerId)
                .execute();
    }

    /** Looks before it writes: most of the time nobody is gone. */
    void expire(String namespace, Duration forgetAfter) {
        boolean any = database.look(handle -> anySilent(handle, namespace, silence(handle, forgetAfter)));
        if (any) {
            database.inTransaction(handle -> {
                var silence = silence(handle, forgetAfter);
                markOffline(handle, namespace, silence);
                return forget(handle, namespace, silence);
            });
        }
    }

    private record Silence(Instant staleBefore, Instant goneBefore) {}

    private Silence silence(Handle handle, Duration forgetAfter) {
        var now = database.now(handle);
        return new Silence(now.minus(staleAfter), now.minus(forgetAfter));
    }

    private boolean anySilent(Handle handle, String namespace, Silence silence) {
        var sql = """
                SELECT count(*) > 0
                  FROM steadwork.worker
                 WHERE namespace = :namespace
                   AND ((status <> 'OFFLINE' AND heartbeat_at < :staleBefore)
                        OR (status = 'OFFLINE' AND heartbeat_at < :goneBefore))
                """;
        return handle.createQuery(database.sql(sql))
                .bind("namespace", namespace)
                .bind("staleBefore", silence.staleBefore)
                .bind("goneBefore", silence.goneBefore)
                .mapTo(Boolean.class)
                .one();
    }

    private void markOffline(Handle handle, String namespace, Silence silence) {
        var sql = """
                UPDATE steadwork.worker
                   SET status = 'OFFLINE',
                       active = 0
                 WHERE namespace = :namespace
                   AND status <> 'OFFLINE'
                   AND heartbeat_at < :staleBefore
                """;
        handle.createUpdate(database.sql(sql))
                .bind("namespace", namespace)
                .bind("staleBefore", silence.staleBefore)
                .execute();
    }

    /** The worker itself before its types: one that comes back meanwhile waits for the row, and registers anew. */
    private int forget(Handle handle, String namespace, Silence silence) {
        var workers = """
                DELETE FROM steadwork.worker
                 WHERE namespace = :namespace
                   AND status = 'OFFLINE'
                   AND heartbeat_at < :goneBefore
                """;
        var types = """
                DELETE FROM steadwork.worker_type
                 WHERE namespace = :namespace
                   AND worker_id NOT IN (
                       SELECT worker_id
                         FROM steadwork.worker
                        WHERE namespace = :namespace)
                """;
        int forgotten = handle.createUpdate(database.sql(workers))
                .bind("namespace", namespace)
                .bind("goneBefore", silence.goneBefore)
                .execute();
        return forgotten == 0
                ? 0
                : handle.createUpdate(database.sql(types))
                        .bind("namespace", namespace)
                        .execute();
    }

    List<WorkerInfo> list(String namespace, Workers.Filter filter, @Nullable String after, int limit) {
        return database.read(handle -> matching(handle, database.dialect().selectWorkers(), namespace, filter)
                .bind("after", after == null ? "" : after)
                .bind("limit", limit)
                .map(WorkerRegistry::info)
                .list());
    }

    long count(String namespace, Workers.Filter filter) {
        return database.read(handle -> matching(handle, database.dialect().countWorkers(), namespace, filter)
                .mapTo(Long.class)
                .one());
    }

    private Query matching(Handle handle, String sql, String namespace, Workers.Filter filter) {
        var status = filter.status();
        return handle.createQuery(database.sql(sql))
                .bind("namespace", namespace)
                .bind("queue", filter.queue())
                .bind("status", status == null ? null : status.name())
                .bind("labels", Rows.tagsJson(filter.labels()));
    }

    private static WorkerInfo info(RowView row) {
        return new WorkerInfo(
                row.getColumn("worker_id", String.class),
                row.getColumn("name", String.class),
                row.getColumn("host", String.class),
                row.getColumn("pid", Long.class),
                Rows.text(row, "build_version"),
                Rows.tags(Rows.text(row, "labels")),
                WorkerStatus.valueOf(row.getColumn("status", String.class)),
                Rows.list(Rows.text(row, "queues")),
                Rows.list(Rows.text(row, "types")),
                Rows.list(Rows.text(row, "type_prefixes")),
                Rows.list(Rows.text(row, "versions")),
                row.getColumn("concurrency", Integer.class),
                row.getColumn("active", Integer.class),
                row.getColumn("completed", Long.class),
                row.getColumn("failed", Long.class),
                row.getColumn("registered_at", Instant.class),
                row.getColumn("heartbeat_at", Instant.class));
    }
}
