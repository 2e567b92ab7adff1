package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import java.sql.Types;
import java.time.Instant;
import java.util.Collection;
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

/** SQLite: the schema is a prefix of table names, run ids are text, times are integers, lists are JSON. */
final class SqliteDialect implements Dialect {
    private static final Pattern SCHEMA = Pattern.compile("\\bsteadwork\\.");

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public String withSchema(String statement, String schema) {
        return SCHEMA.matcher(statement).replaceAll(Matcher.quoteReplacement(schema + '_'));
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
    }

    private static ColumnMapper<Instant> instantColumn() {
        return (row, column, context) -> {
            long micros = row.getLong(column);
            return row.wasNull() ? null : SqliteTime.instant(micros);
        };
    }

    private static ColumnMapper<RunId> runIdColumn() {
        return (row, column, context) -> {
            var text = row.getString(column);
            return text == null ? null : RunId.parse(text);
        };
    }

    @Override
    public boolean hasSavepoints() {
        return false;
    }

    @Override
    public Instant now(Handle handle) {
        return SqliteTime.now();
    }

    @Override
    public boolean hasTable(Handle handle, String schema, String table) {
        return handle.createQuery("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = :table")
                        .bind("table", schema + '_' + table)
                        .mapTo(Integer.class)
                        .one()
                > 0;
    }

    /** A file has no schemas to create, only names. */
    @Override
    public boolean hasSchema(Handle handle, String schema) {
        return true;
    }

    /** Nothing to do: there is one write transaction at a time. */
    @Override
    public void lockMigrations(Handle handle, String schema) {}

    @Override
    public void bindList(SqlStatement<?> statement, String name, Collection<String> values) {
        statement.bind(name, Rows.listJson(values));
    }

    @Override
    public String selectOutboxOutlook() {
        // The end of the millisecond: what was recorded in it is due.
        return """
                SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) + 999 AS now,
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
                """;
    }

    @Override
    public String selectEnds() {
        return """
                SELECT run_id, status, error, output_type, output
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id IN (SELECT value FROM json_each(:runs))
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
                  FROM steadwork.run AS r
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
                   AND (:type IS NULL OR type = :type)
                   AND (:queue IS NULL OR queue = :queue)
                   AND NOT EXISTS (
                       SELECT 1
                         FROM json_each(:tags) AS wanted
                        WHERE NOT EXISTS (
                              SELECT 1
                                FROM json_each(r.tags) AS found
                               WHERE found.key = wanted.key
                                 AND found.value = wanted.value))
                   AND (:externalId IS NULL OR external_id = :externalId)
                   AND (:createdAfter IS NULL OR created_at >= :createdAfter)
                   AND (:createdBefore IS NULL OR created_at < :createdBefore)
                   AND (:parent IS NULL OR parent_run_id = :parent)
                   AND (:errorText IS NULL
                        OR instr(lower(coalesce('step ' || (error ->> 'step') || ': ', '')
                                       || (error ->> 'type')
                                       || coalesce(': ' || (error ->> 'message'), '')),
                                 lower(:errorText)) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                 ORDER BY run_id DESC
                 LIMIT :limit
                """;
    }

    @Override
    public String selectRunIds() {
        return """
                SELECT run_id
                  FROM steadwork.run AS r
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
                   AND (:type IS NULL OR type = :type)
                   AND (:queue IS NULL OR queue = :queue)
                   AND NOT EXISTS (
                       SELECT 1
                         FROM json_each(:tags) AS wanted
                        WHERE NOT EXISTS (
                              SELECT 1
                                FROM json_each(r.tags) AS found
                               WHERE found.key = wanted.key
                                 AND found.value = wanted.value))
                   AND (:externalId IS NULL OR external_id = :externalId)
                   AND (:createdAfter IS NULL OR created_at >= :createdAfter)
                   AND (:createdBefore IS NULL OR created_at < :createdBefore)
                   AND (:parent IS NULL OR parent_run_id = :parent)
                   AND (:errorText IS NULL
                        OR instr(lower(coalesce('step ' || (error ->> 'step') || ': ', '')
                                       || (error ->> 'type')
                                       || coalesce(': ' || (error ->> 'message'), '')),
                                 lower(:errorText)) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                 ORDER BY run_id DESC
                 LIMIT :limit
                """;
    }

    @Override
    public String countRuns() {
        return """
                SELECT count(*)
                  FROM steadwork.run AS r
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND run_id >= :from
                   AND run_id < :before
                   AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
                   AND (:type IS NULL OR type = :type)
                   AND (:queue IS NULL OR queue = :queue)
                   AND NOT EXISTS (
                       SELECT 1
                         FROM json_each(:tags) AS wanted
                        WHERE NOT EXISTS (
                              SELECT 1
                                FROM json_each(r.tags) AS found
                               WHERE found.key = wanted.key
                                 AND found.value = wanted.value))
                   AND (:externalId IS NULL OR external_id = :externalId)
                   AND (:createdAfter IS NULL OR created_at >= :createdAfter)
                   AND (:createdBefore IS NULL OR created_at < :createdBefore)
                   AND (:parent IS NULL OR parent_run_id = :parent)
                   AND (:errorText IS NULL
                        OR instr(lower(coalesce('step ' || (error ->> 'step') || ': ', '')
                                       || (error ->> 'type')
                                       || coalesce(': ' || (error ->> 'message'), '')),
                                 lower(:errorText)) > 0)
                   AND (:withDeleted OR deleted_at IS NULL)
                """;
    }

    @Override
    public String selectWorkers() {
        return """
                SELECT w.worker_id, w.name, w.host, w.pid, w.status, w.concurrency, w.active, w.completed, w.failed, w.queues,
                       w.type_prefixes, w.versions, w.build_version, w.labels, w.registered_at, w.heartbeat_at,
                       (SELECT json_group_array(t.type)
                          FROM (SELECT type
                                  FROM steadwork.worker_type
                                 WHERE namespace = w.namespace
                                   AND worker_id = w.worker_id
                                 ORDER BY type) AS t) AS types
                  FROM steadwork.worker AS w
                 WHERE w.namespace = :namespace
                   AND w.worker_id > :after
                   AND (:queue IS NULL OR EXISTS (SELECT 1 FROM json_each(w.queues) AS q WHERE q.value = :queue))
                   AND (:status IS NULL OR w.status = :status)
                   AND NOT EXISTS (
                       SELECT 1
                         FROM json_each(:labels) AS wanted
                        WHERE NOT EXISTS (
                              SELECT 1
                                FROM json_each(w.labels) AS found
                               WHERE found.key = wanted.key
                                 AND found.value = wanted.value))
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
                   AND (:queue IS NULL OR EXISTS (SELECT 1 FROM json_each(w.queues) AS q WHERE q.value = :queue))
                   AND (:status IS NULL OR w.status = :status)
                   AND NOT EXISTS (
                       SELECT 1
                         FROM json_each(:labels) AS wanted
                        WHERE NOT EXISTS (
                              SELECT 1
                                FROM json_each(w.labels) AS found
                               WHERE found.key = wanted.key
                                 AND found.value = wanted.value))
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
                   AND (:only IS NULL OR schedule_id = :only)
                 ORDER BY due_at, schedule_id
                 LIMIT :limit
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
                   AND (:only IS NULL OR schedule_id = :only)
                 ORDER BY schedule_id
                 LIMIT :limit
                """;
    }

    @Override
    public String selectScheduleOutlook() {
        return """
                SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS now,
                       (SELECT min(due_at)
                          FROM steadwork.schedule
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND due_at IS NOT NULL) AS due_at,
                       NULL AS awaited,
                       0 AS active
                UNION ALL
                SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER),
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
                   AND run_id IN (SELECT value FROM json_each(:runs))
                """;
    }

    @Override
    public QueueStatements queues() {
        return new SqliteQueueStatements();
    }

    private static final class InstantArgument extends AbstractArgumentFactory<Instant> {
        InstantArgument() {
            super(Types.INTEGER);
        }

        @Override
        protected Argument build(Instant time, ConfigRegistry config) {
            long micros = SqliteTime.micros(time);
            return (position, statement, context) -> statement.setLong(position, micros);
        }
    }

    private static final class RunIdArgument extends AbstractArgumentFactory<RunId> {
        RunIdArgument() {
            super(Types.VARCHAR);
        }

        @Override
        protected Argument build(RunId run, ConfigRegistry config) {
            return (position, statement, context) -> statement.setString(position, run.toString());
        }
    }
}
