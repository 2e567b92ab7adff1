package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.argument.AbstractArgumentFactory;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.config.ConfigRegistry;
import org.jdbi.v3.core.mapper.ColumnMapper;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;

/** Postgres: a schema of its own, UUIDs, microsecond times with a zone, arrays. */
final class PostgresDialect implements Dialect {
    private static final Pattern SCHEMA = Pattern.compile("\\bsteadwork(?=[.;])");

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public String withSchema(String statement, String schema) {
        return SCHEMA.matcher(statement).replaceAll(Matcher.quoteReplacement('"' + schema + '"'));
    }

    @Override
    public void configure(Jdbi jdbi) {
        jdbi.getConfig(SqlStatements.class)
                .setTemplateEngine(TemplateEngine.NOP)
                .setSqlParser(Database.PARSER);
        jdbi.registerArgument(new InstantArgument());
        jdbi.registerArgument(new RunIdArgument());
        jdbi.registerColumnMapper(Instant.class, instantColumn());
        jdbi.registerColumnMapper(RunId.class, runIdColumn());
        jdbi.registerArrayType(String.class, "text");
        jdbi.registerArrayType(UUID.class, "uuid");
        jdbi.registerArrayType(Integer.class, "int4");
        jdbi.registerArrayType(Long.class, "int8");
        jdbi.registerArrayType(Boolean.class, "bool");
        jdbi.registerArrayType(byte[].class, "bytea");
    }

    private static ColumnMapper<Instant> instantColumn() {
        return (row, column, context) -> {
            var time = row.getObject(column, OffsetDateTime.class);
            return time == null ? null : time.toInstant();
        };
    }

    private static ColumnMapper<RunId> runIdColumn() {
        return (row, column, context) -> {
            var uuid = row.getObject(column, UUID.class);
            return uuid == null ? null : new RunId(uuid);
        };
    }

    @Override
    public boolean hasSavepoints() {
        return true;
    }

    @Override
    public Instant now(Handle handle) {
        return handle.createQuery("SELECT now()").mapTo(Instant.class).one();
    }

    @Override
    public boolean hasTable(Handle handle, String schema, String table) {
        // Not to_regclass: what it has cached may be older than the lock that was just waited for.
        var sql = """
                SELECT count(*) > 0
                  FROM pg_class AS c
                  JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname = :schema
                   AND c.relname = :table
                   AND c.relkind IN ('r', 'p')
                """;
        return handle.createQuery(sql)
                .bind("schema", schema)
                .bind("table", table)
                .mapTo(Boolean.class)
                .one();
    }

    @Override
    public boolean hasSchema(Handle handle, String schema) {
        return handle.createQuery("SELECT count(*) > 0 FROM pg_namespace WHERE nspname = :schema")
                .bind("schema", schema)
                .mapTo(Boolean.class)
                .one();
    }

    @Override
    public void lockMigrations(Handle handle, String schema) {
        var sql = """
                SELECT pg_advisory_xact_lock(hashtext('steadwork migrations'), hashtext(:schema)) IS NULL
                """;
        handle.createQuery(sql).bind("schema", schema).mapTo(Boolean.class).one();
    }

    @Override
    public void bindList(SqlStatement<?> statement, String name, Collection<String> values) {
        statement.bindArray(name, String.class, values);
    }

    @Override
    public String selectOutboxOutlook() {
        return """
                SELECT now() AS now,
                       (SELECT min(due_at)
                          FROM steadwork.outbox
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND status = 'WAITING') AS due_at
                """;
    }

    @Override
    public String selectDueOutbox() {
        return """
                SELECT number, run_id, namespace, type, kind, happened_at, worker, step, attempt, detail, actor, reason,
                       failures
                  FROM steadwork.outbox AS o
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND status = 'WAITING'
                   AND due_at <= :now
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.outbox AS older
                        WHERE older.shard = :shard
                          AND older.run_id = o.run_id
                          AND older.number < o.number
                          AND older.status = 'WAITING')
                 ORDER BY due_at
                 LIMIT :limit
                   FOR UPDATE OF o SKIP LOCKED
                """;
    }

    @Override
    public String selectEnds() {
        return """
                SELECT run_id, status, error, output_type, output
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = ANY(CAST(:runs AS uuid[]))
                """;
    }

    @Override
    public String selectRuns() {
        return """
                SELECT run_id, namespace, type, queue, status, priority, due_at, lease_epoch, attempt, lost_leases, worker,
                       created_at, started_at, finished_at, paused_at, updated_at, deadline, cancel_requested_at,
                       pause_requested_at, idempotency_key, key_policy, version, external_id, parent_run_id, parent_step,
                       retry, tags, step_name, step_since, error, deleted_at, deleted_reason, concurrency_key,
                       compensates IS NOT NULL AS compensates
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (cardinality(:statuses) = 0 OR status = ANY(:statuses))
                   AND (CAST(:type AS text) IS NULL OR type = :type)
                   AND (CAST(:queue AS text) IS NULL OR queue = :queue)
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard))
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR CAST(:queue AS text) IS NULL OR hashtextextended(queue, 0) = hashtextextended(:queue, 0))
                   AND (CAST(:tags AS jsonb) IS NULL OR CAST(tags AS jsonb) @> CAST(:tags AS jsonb))
                   AND (CAST(:externalId AS text) IS NULL OR external_id = :externalId)
                   AND (CAST(:createdAfter AS timestamptz) IS NULL OR created_at >= :createdAfter)
                   AND (CAST(:createdBefore AS timestamptz) IS NULL OR created_at < :createdBefore)
                   AND (CAST(:parent AS uuid) IS NULL OR parent_run_id = :parent)
                   AND (CAST(:errorText AS text) IS NULL
                        OR position(lower(:errorText) IN lower(concat_ws(': ',
                               'step ' || (CAST(error AS jsonb) ->> 'step'),
                               CAST(error AS jsonb) ->> 'type',
                               CAST(error AS jsonb) ->> 'message'))) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                 ORDER BY run_id DESC
                 LIMIT :limit
                """;
    }

    @Override
    public String selectRunIds() {
        return """
                SELECT run_id
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (cardinality(:statuses) = 0 OR status = ANY(:statuses))
                   AND (CAST(:type AS text) IS NULL OR type = :type)
                   AND (CAST(:queue AS text) IS NULL OR queue = :queue)
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard))
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR CAST(:queue AS text) IS NULL OR hashtextextended(queue, 0) = hashtextextended(:queue, 0))
                   AND (CAST(:tags AS jsonb) IS NULL OR CAST(tags AS jsonb) @> CAST(:tags AS jsonb))
                   AND (CAST(:externalId AS text) IS NULL OR external_id = :externalId)
                   AND (CAST(:createdAfter AS timestamptz) IS NULL OR created_at >= :createdAfter)
                   AND (CAST(:createdBefore AS timestamptz) IS NULL OR created_at < :createdBefore)
                   AND (CAST(:parent AS uuid) IS NULL OR parent_run_id = :parent)
                   AND (CAST(:errorText AS text) IS NULL
                        OR position(lower(:errorText) IN lower(concat_ws(': ',
                               'step ' || (CAST(error AS jsonb) ->> 'step'),
                               CAST(error AS jsonb) ->> 'type',
                               CAST(error AS jsonb) ->> 'message'))) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                 ORDER BY run_id DESC
                 LIMIT :limit
                """;
    }

    @Override
    public String countRuns() {
        return """
                SELECT count(*)
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (cardinality(:statuses) = 0 OR status = ANY(:statuses))
                   AND (CAST(:type AS text) IS NULL OR type = :type)
                   AND (CAST(:queue AS text) IS NULL OR queue = :queue)
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard))
                   AND (CAST(:statuses AS text[]) <> ARRAY['PENDING'] OR CAST(:queue AS text) IS NULL OR hashtextextended(queue, 0) = hashtextextended(:queue, 0))
                   AND (CAST(:tags AS jsonb) IS NULL OR CAST(tags AS jsonb) @> CAST(:tags AS jsonb))
                   AND (CAST(:externalId AS text) IS NULL OR external_id = :externalId)
                   AND (CAST(:createdAfter AS timestamptz) IS NULL OR created_at >= :createdAfter)
                   AND (CAST(:createdBefore AS timestamptz) IS NULL OR created_at < :createdBefore)
                   AND (CAST(:parent AS uuid) IS NULL OR parent_run_id = :parent)
                   AND (CAST(:errorText AS text) IS NULL
                        OR position(lower(:errorText) IN lower(concat_ws(': ',
                               'step ' || (CAST(error AS jsonb) ->> 'step'),
                               CAST(error AS jsonb) ->> 'type',
                               CAST(error AS jsonb) ->> 'message'))) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                """;
    }

    @Override
    public String selectWorkers() {
        return """
                SELECT w.worker_id, w.name, w.host, w.pid, w.status, w.concurrency, w.active, w.completed, w.failed, w.queues,
                       w.type_prefixes, w.versions, w.build_version, w.labels, w.registered_at, w.heartbeat_at,
                       (SELECT CAST(json_agg(t.type ORDER BY t.type) AS text)
                          FROM steadwork.worker_type AS t
                         WHERE t.namespace = w.namespace
                           AND t.worker_id = w.worker_id) AS types
                  FROM steadwork.worker AS w
                 WHERE w.namespace = :namespace
                   AND w.worker_id > :after
                   AND (CAST(:queue AS text) IS NULL OR jsonb_exists(CAST(w.queues AS jsonb), :queue))
                   AND (CAST(:status AS text) IS NULL OR w.status = :status)
                   AND (CAST(:labels AS jsonb) IS NULL OR CAST(w.labels AS jsonb) @> CAST(:labels AS jsonb))
                 ORDER BY w.worker_id
                 LIMIT :limit
                """;
    }

    @Override
    public String countWorkers() {
        return """
                SELECT count(*)
                  FROM steadwork.worker AS w
                 WHERE w.namespace = :namespace
                   AND (CAST(:queue AS text) IS NULL OR jsonb_exists(CAST(w.queues AS jsonb), :queue))
                   AND (CAST(:status AS text) IS NULL OR w.status = :status)
                   AND (CAST(:labels AS jsonb) IS NULL OR CAST(w.labels AS jsonb) @> CAST(:labels AS jsonb))
                """;
    }

    @Override
    public String claimDueSchedules() {
        return """
                SELECT schedule_id, type, demand, queue, priority, version, tags, input_type, input, cron, zone, max_catchup,
                       overlap, jitter, enabled, next_slot, buffered_slot, last_run_id, revision
                  FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND due_at IS NOT NULL
                   AND due_at <= :now
                   AND (CAST(:only AS text) IS NULL OR schedule_id = :only)
                 ORDER BY due_at, schedule_id
                 LIMIT :limit
                   FOR UPDATE SKIP LOCKED
                """;
    }

    @Override
    public String claimBufferedSchedules() {
        return """
                SELECT schedule_id, type, demand, queue, priority, version, tags, input_type, input, cron, zone, max_catchup,
                       overlap, jitter, enabled, next_slot, buffered_slot, last_run_id, revision
                  FROM steadwork.schedule AS s
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND buffered_slot IS NOT NULL
                   AND NOT EXISTS (
                       SELECT 1
                         FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = s.last_run_id
                          AND r.status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                          AND r.deleted_at IS NULL)
                   AND (CAST(:only AS text) IS NULL OR schedule_id = :only)
                 ORDER BY schedule_id
                 LIMIT :limit
                   FOR UPDATE OF s SKIP LOCKED
                """;
    }

    @Override
    public String selectScheduleOutlook() {
        return """
                SELECT now() AS now,
                       (SELECT min(due_at)
                          FROM steadwork.schedule
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND due_at IS NOT NULL) AS due_at,
                       CAST(NULL AS uuid) AS awaited,
                       false AS active
                UNION ALL
                SELECT now(),
                       NULL,
                       s.last_run_id,
                       EXISTS (
                           SELECT 1
                             FROM steadwork.run AS r
                            WHERE r.shard = :shard
                              AND r.run_id = s.last_run_id
                              AND r.status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                              AND r.deleted_at IS NULL)
                  FROM steadwork.schedule AS s
                 WHERE s.shard = :shard
                   AND s.namespace = :namespace
                   AND s.buffered_slot IS NOT NULL
                 LIMIT :limit
                """;
    }

    @Override
    public String selectRunStatuses() {
        return """
                SELECT run_id, status, deleted_at
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = ANY(CAST(:runs AS uuid[]))
                """;
    }

    @Override
    public QueueStatements queues() {
        return new PostgresQueueStatements();
    }

    private static final class InstantArgument extends AbstractArgumentFactory<Instant> {
        InstantArgument() {
            super(Types.TIMESTAMP_WITH_TIMEZONE);
        }

        @Override
        protected Argument build(Instant time, ConfigRegistry config) {
            // The driver would round nanoseconds up; SQLite and the engine cut them off.
            var micros = time.truncatedTo(ChronoUnit.MICROS).atOffset(ZoneOffset.UTC);
            return (position, statement, context) -> statement.setObject(position, micros);
        }
    }

    private static final class RunIdArgument extends AbstractArgumentFactory<RunId> {
        RunIdArgument() {
            super(Types.OTHER);
        }

        @Override
        protected Argument build(RunId run, ConfigRegistry config) {
            return (position, statement, context) -> statement.setObject(position, run.uuid());
        }
    }
}
