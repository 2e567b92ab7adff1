package dev.steadwork.store.jdbc;

import dev.steadwork.RetryPolicy;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Creates runs that ask for nothing special, as most do: a short statement that decides nothing but whether the namespace takes
 * triggers. Their ids are new, so nothing is in the way of them, unless one is sent again because its answer was lost: then the
 * statement fails as a whole.
 */
final class PostgresPlainRuns {
    private final KnownDefinitions definitions;
    private final KnownNamespaces namespaces;

    PostgresPlainRuns(KnownDefinitions definitions, KnownNamespaces namespaces) {
        this.definitions = definitions;
        this.namespaces = namespaces;
    }

    /** A run with all that is decided about it. */
    record Plain(
            NewRun run,
            Write.@Nullable Starter starter,
            String queue,
            @Nullable RetryPolicy retry) {
        TriggerResult.Started begunAt(Instant now) {
            var policy = retry == null ? RetryPolicy.defaults() : retry;
            return new TriggerResult.Started(ClaimedRun.begun(run, queue, policy, null, now), now);
        }
    }

    /** Null if the run asks for more, or if too little is known. */
    @Nullable
    Plain plain(Write.Trigger trigger) {
        var run = trigger.newRun();
        var defaults = definitions.of(run);
        if (defaults == null || defaults.hasTimeout() || !isPlain(run) || namespaces.records(run.namespace())) {
            return null;
        }
        var queue = run.queue() == null ? defaults.queue() : run.queue();
        var retry = run.retry() == null ? defaults.retry() : run.retry();
        return new Plain(
                run,
                trigger.starter(),
                queue,
                retry == null ? namespaces.of(run.namespace()).retry() : retry);
    }

    private static boolean isPlain(NewRun run) {
        return run.check() != TriggerCheck.REQUIRE_ONLINE
                && run.idempotencyKey() == null
                && !run.start().isGiven()
                && !run.deadline().isGiven()
                && run.version() == null
                && run.externalId() == null
                && run.concurrencyKey() == null
                && run.tags().isEmpty()
                && run.parent() == null;
    }

    /** Adds the inserts, two per namespace at most; leaves open what is not created. */
    void addInserts(Pipeline pipeline, List<Plain> plain, PostgresTriggers.Triggered triggered) {
        var all = plain.stream()
                .map(one -> one.run.namespace())
                .distinct()
                .sorted()
                .toList();
        for (var namespace : all) {
            var here = plain.stream()
                    .filter(one -> one.run.namespace().equals(namespace))
                    .toList();
            addWaiting(
                    pipeline,
                    namespace,
                    here.stream().filter(one -> one.starter == null).toList(),
                    triggered);
            addStarting(
                    pipeline,
                    namespace,
                    here.stream().filter(one -> one.starter != null).toList(),
                    triggered);
        }
    }

    private static void addWaiting(
            Pipeline pipeline, String namespace, List<Plain> runs, PostgresTriggers.Triggered triggered) {
        var sql = """
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, retry, input_type, input)
                SELECT CAST(:shard AS smallint),
                       u.run_id,
                       :namespace,
                       coalesce(u.type, :type),
                       coalesce(u.queue, :queue),
                       'PENDING',
                       coalesce(u.priority, 0),
                       now(),
                       now(),
                       now(),
                       u.retry,
                       u.input_type,
                       u.input
                  FROM (SELECT unnest(CAST(:runs AS uuid[])) AS run_id,
                               unnest(CAST(:types AS text[])) AS type,
                               unnest(CAST(:queues AS text[])) AS queue,
                               unnest(CAST(:priorities AS integer[])) AS priority,
                               unnest(CAST(:retries AS text[])) AS retry,
                               unnest(CAST(:inputTypes AS text[])) AS input_type,
                               unnest(CAST(:inputs AS bytea[])) AS input) AS u
                 WHERE NOT EXISTS (
                       SELECT FROM steadwork.namespace AS ns
                        WHERE ns.namespace = :namespace
                          AND ns.disabled_at IS NOT NULL)
                """;
        if (runs.isEmpty()) {
            return;
        }
        pipeline.addUpdate(sql, columns(namespace, runs).values(), count -> {
            if (count == runs.size()) {
                runs.forEach(one -> triggered.created(one.run, one.queue));
            }
        });
    }

    private static void addStarting(
            Pipeline pipeline, String namespace, List<Plain> runs, PostgresTriggers.Triggered triggered) {
        // As a claim would leave them.
        var sql = """
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, started_at, lease_epoch,
                     worker, retry, input_type, input)
                SELECT CAST(:shard AS smallint),
                       u.run_id,
                       :namespace,
                       coalesce(u.type, :type),
                       coalesce(u.queue, :queue),
                       'RUNNING',
                       coalesce(u.priority, 0),
                       now() + coalesce(u.lease, :lease) * interval '1 microsecond',
                       now(),
                       now(),
                       now(),
                       1,
                       coalesce(u.worker, :worker),
                       u.retry,
                       u.input_type,
                       u.input
                  FROM (SELECT unnest(CAST(:runs AS uuid[])) AS run_id,
                               unnest(CAST(:types AS text[])) AS type,
                               unnest(CAST(:queues AS text[])) AS queue,
                               unnest(CAST(:priorities AS integer[])) AS priority,
                               unnest(CAST(:leases AS bigint[])) AS lease,
                               unnest(CAST(:workers AS text[])) AS worker,
                               unnest(CAST(:retries AS text[])) AS retry,
                               unnest(CAST(:inputTypes AS text[])) AS input_type,
                               unnest(CAST(:inputs AS bytea[])) AS input) AS u
                 WHERE NOT EXISTS (
                       SELECT FROM steadwork.namespace AS ns
                        WHERE ns.namespace = :namespace
                          AND ns.disabled_at IS NOT NULL)
                """;
        if (runs.isEmpty()) {
            return;
        }
        var values = columns(namespace, runs)
                .longsUnlessAlike(
                        "leases", "lease", one -> Columns.micros(starter(one).lease()))
                .textsUnlessAlike("workers", "worker", one -> starter(one).worker())
                .values();
        var isCreated = new boolean[1];
        pipeline.addUpdate(sql, values, count -> isCreated[0] = count == runs.size());
        pipeline.add("SELECT now() AS now", Map.of(), row -> {
            if (isCreated[0]) {
                var now = row.getObject("now", OffsetDateTime.class).toInstant();
                runs.forEach(one -> triggered.started(one.run, one.begunAt(now)));
            }
        });
    }

    private static Write.Starter starter(Plain one) {
        return Objects.requireNonNull(one.starter);
    }

    private static Columns<Plain> columns(String namespace, List<Plain> runs) {
        return Columns.of(runs)
                .with("shard", Shards.ONLY)
                .with("namespace", namespace)
                .uuids("runs", one -> one.run.id().uuid())
                .textsUnlessAlike("types", "type", one -> one.run.type())
                .textsUnlessAlike("queues", "queue", Plain::queue)
                .ints("priorities", one -> one.run.priority() == 0 ? null : (Integer) one.run.priority())
                .texts("retries", one -> Rows.retryJson(one.retry))
                .texts("inputTypes", one -> Rows.payloadType(one.run.input()))
                .bytes("inputs", one -> Rows.payloadBytes(one.run.input()));
    }
}
