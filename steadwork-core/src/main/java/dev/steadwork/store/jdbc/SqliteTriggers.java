package dev.steadwork.store.jdbc;

import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Signals;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.TriggerResult.Outcome;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Creates runs in SQLite: inserts first, and only if nothing was inserted looks why. */
final class SqliteTriggers {
    /** Timers due within this time are told, later ones are found by whoever looks for timers anyway. */
    static final Duration SOON = Duration.ofSeconds(60);

    private final Database database;
    private final Duration staleAfter;
    private final Events events;

    SqliteTriggers(Database database, Duration staleAfter, Events events) {
        this.database = database;
        this.staleAfter = staleAfter;
        this.events = events;
    }

    /** Creates the run if it may be; adds the topic of its queue if somebody should look there. */
    TriggerResult insert(Handle handle, NewRun run, Instant now, Set<Integer> topics) {
        return insert(handle, new Write.Trigger(run), now, topics);
    }

    /** The same, for a run that begins with its creation if it can. */
    TriggerResult insert(Handle handle, Write.Trigger trigger, Instant now, Set<Integer> topics) {
        var run = trigger.newRun();
        var starter = run.start().isGiven() || events.areWanted(run.namespace()) ? null : trigger.starter();
        var row = insertRow(handle, run, starter, now);
        if (row.isEmpty()) {
            return whyNot(handle, run);
        }
        if (events.areWanted(run.namespace())) {
            events.append(handle, List.of(NewEvent.created(run.id())));
        }
        if (starter != null) {
            return new TriggerResult(Outcome.CREATED, run.id(), null, row.get().begun(run, now));
        }
        if (startOf(run, now).isBefore(now.plus(SOON))) {
            topics.add(Signals.topic(run.namespace(), row.get().queue));
        }
        return new TriggerResult(Outcome.CREATED, run.id(), null);
    }

    /** What was decided about a run when it was created. */
    private record Row(
            String queue, RetryPolicy retry, @Nullable Instant deadline) {
        TriggerResult.Started begun(NewRun run, Instant now) {
            return new TriggerResult.Started(ClaimedRun.begun(run, queue, retry, deadline, now), now);
        }
    }

    private Optional<Row> insertRow(Handle handle, NewRun run, Write.@Nullable Starter starter, Instant now) {
        var sql = """
                INSERT INTO steadwork.run
                    (shard, run_id, namespace, type, queue, status, priority, due_at, created_at, updated_at, deadline,
                     idempotency_key, key_policy, version, external_id, parent_run_id, parent_step, depth,
                     ends_with_parent, retry, tags, input_type, input, concurrency_key, lease_epoch, worker, started_at)
                SELECT :shard, :run, :namespace, :type, coalesce(:queue, d.queue, :type),
                       CASE WHEN :worker IS NOT NULL THEN 'RUNNING' WHEN :start > :now THEN 'SLEEPING' ELSE 'PENDING' END,
                       :priority, coalesce(:leaseEnd, :start), :now, :now,
                       coalesce(:deadline, :start + d.timeout_ms * 1000),
                       :key, CASE WHEN :key IS NOT NULL THEN coalesce(:keyPolicy, d.key_policy, 'FOREVER') END,
                       :version, :externalId, :parentRun, :parentStep, nullif(:depth, 0), nullif(:endsWithParent, false),
                       coalesce(:retry, d.retry, ns.retry), :tags,
                       :inputType, :input, :concurrencyKey,
                       CASE WHEN :worker IS NOT NULL THEN 1 ELSE 0 END, :worker,
                       CASE WHEN :worker IS NOT NULL THEN :now END
                  FROM (SELECT 1)
                  LEFT JOIN steadwork.definition d
                    ON d.namespace = :namespace
                   AND d.type = :type
                  LEFT JOIN steadwork.namespace ns
                    ON ns.namespace = :namespace
                 WHERE (ns.disabled_at IS NULL OR :parentRun IS NOT NULL)
                   AND (:check = 'ACCEPT'
                    OR (:check = 'REQUIRE_REGISTERED' AND d.type IS NOT NULL)
                    OR (:check = 'REQUIRE_ONLINE' AND EXISTS (
                        SELECT 1
                          FROM steadwork.worker w
                         WHERE w.namespace = :namespace
                           AND w.status = 'ONLINE'
                           AND w.heartbeat_at > :onlineSince
                           AND (EXISTS (
                                SELECT 1
                                  FROM steadwork.worker_type t
                                 WHERE t.namespace = :namespace
                                   AND t.type = :type
                                   AND t.worker_id = w.worker_id)
                             OR EXISTS (
                                SELECT 1
                                  FROM json_each(w.type_prefixes) p
                                 WHERE substr(:type, 1, length(p.value)) = p.value)))))
                ON CONFLICT DO NOTHING
                RETURNING queue, retry, deadline
                """;
        var parent = run.parent();
        return SqliteStatement.of(handle, database.sql(sql))
                .bind("shard", Shards.of(run.id()))
                .bind("run", run.id())
                .bind("namespace", run.namespace())
                .bind("type", run.type())
                .bind("queue", run.queue())
                .bind("concurrencyKey", run.concurrencyKey())
                .bind("priority", run.priority())
                .bind("start", startOf(run, now))
                .bind("now", now)
                .bind("deadline", timeOf(run.deadline(), now))
                .bind("key", run.idempotencyKey())
                .bind(
                        "keyPolicy",
                        run.keyPolicy() == null ? null : run.keyPolicy().name())
                .bind("version", run.version())
                .bind("externalId", run.externalId())
                .bind("parentRun", parent == null ? null : parent.run())
                .bind("parentStep", parent == null ? null : parent.step())
                .bind("depth", run.depth())
                .bind("endsWithParent", run.endsWithParent())
                .bind("retry", Rows.retryJson(run.retry()))
                .bind("tags", Rows.tagsJson(run.tags()))
                .bind("inputType", Rows.payloadType(run.input()))
                .bind("input", Rows.payloadBytes(run.input()))
                .bind("check", run.check().name())
                .bind("onlineSince", now.minus(staleAfter))
                .bind("worker", starter == null ? null : starter.worker())
                .bind("leaseEnd", starter == null ? null : SqliteTime.after(now, starter.lease()))
                .first(row -> new Row(
                        row.getString("queue"),
                        Rows.retry(row.getString("retry")),
                        SqliteStatement.time(row, "deadline")));
    }

    /** A run of that very id is this one, sent again because the answer was lost. */
    private TriggerResult whyNot(Handle handle, NewRun run) {
        var sql = """
                SELECT run_id, type, false AS disabled
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                UNION ALL
                SELECT :run, :type, true
                  FROM steadwork.namespace
                 WHERE namespace = :namespace
                   AND disabled_at IS NOT NULL
                   AND NOT :isChild
                UNION ALL
                SELECT run_id, type, false
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND idempotency_key = :key
                   AND idempotency_key IS NOT NULL
                   AND deleted_at IS NULL
                   AND (key_policy = 'FOREVER' OR status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED'))
                 LIMIT 1
                """;
        return SqliteStatement.of(handle, database.sql(sql))
                .bind("shard", Shards.of(run.id()))
                .bind("run", run.id())
                .bind("namespace", run.namespace())
                .bind("key", run.idempotencyKey())
                .bind("type", run.type())
                .bind("isChild", run.parent() != null)
                .first(row -> row.getBoolean("disabled")
                        ? new TriggerResult(Outcome.NAMESPACE_DISABLED, run.id(), null)
                        : held(run, RunId.parse(row.getString("run_id")), row.getString("type")))
                .orElseGet(() -> refused(run));
    }

    private static TriggerResult held(NewRun run, RunId holder, String holderType) {
        if (holder.equals(run.id())) {
            return new TriggerResult(Outcome.CREATED, holder, null);
        }
        var outcome = holderType.equals(run.type()) ? Outcome.EXISTED : Outcome.KEY_OF_OTHER_TYPE;
        return new TriggerResult(outcome, holder, holderType);
    }

    private static TriggerResult refused(NewRun run) {
        var outcome = run.check() == TriggerCheck.REQUIRE_ONLINE ? Outcome.NO_WORKER_ONLINE : Outcome.UNKNOWN_TYPE;
        return new TriggerResult(outcome, run.id(), null);
    }

    private static Instant startOf(NewRun run, Instant now) {
        var start = timeOf(run.start(), now);
        return start == null || start.isBefore(now) ? now : start;
    }

    private static @Nullable Instant timeOf(NewRun.Moment moment, Instant now) {
        if (moment.at() != null) {
            return moment.at();
        }
        return moment.after() == null ? null : SqliteTime.after(now, moment.after());
    }
}
