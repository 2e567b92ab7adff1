package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.OverlapPolicy;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunId;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.FirePlan;
import dev.steadwork.store.NextSlot;
import dev.steadwork.store.ScheduleOutlook;
import dev.steadwork.store.ScheduleSettings;
import dev.steadwork.store.ScheduleStore;
import dev.steadwork.store.TriggerResult;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Schedules: created, changed, listed. They are fired by {@link DueFirings} and {@link ManualFirings}. */
final class JdbcSchedules implements ScheduleStore {
    private static final int MAX_AWAITED = 1_000;

    private final Database database;
    private final JdbcStore store;
    private final FiringLog log;
    private final DueFirings due;
    private final ManualFirings manual;

    JdbcSchedules(Database database, JdbcStore store, Transitions transitions) {
        this.database = database;
        this.store = store;
        this.log = new FiringLog(database);
        this.due = new DueFirings(database, store, transitions, log);
        this.manual = new ManualFirings(database, store, log);
    }

    @Override
    public Instant now() {
        return database.read(database::now);
    }

    @Override
    public void create(String namespace, String id, ScheduleSettings settings, NextSlot next) {
        var sql = """
                INSERT INTO steadwork.schedule
                    (shard, namespace, schedule_id, type, demand, queue, priority, version, tags, input_type, input, cron,
                     zone, max_catchup, overlap, jitter, enabled, next_slot, due_at, revision, created_at, updated_at)
                VALUES
                    (:shard, :namespace, :id, :type, :demand, :queue, :priority, :version, :tags, :inputType, :input, :cron,
                     :zone, :maxCatchup, :overlap, :jitter, :enabled, :nextSlot, :due, 1, :now, :now)
                ON CONFLICT (shard, namespace, schedule_id) DO NOTHING
                """;
        database.inTransaction(handle -> {
            checkWorkflow(handle, namespace, id, settings.target());
            int created = ScheduleRows.bind(handle.createUpdate(database.sql(sql)), settings)
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("id", id)
                    .bindByType("nextSlot", next.slot(), Instant.class)
                    .bindByType("due", next.due(), Instant.class)
                    .bind("now", database.now(handle))
                    .execute();
            if (created == 0) {
                throw new Conflict(
                        "Schedule %s exists already in namespace %s. Change it with update(...), or choose another id."
                                .formatted(id, namespace));
            }
            return created;
        });
        store.tellScheduled(namespace);
    }

    private void checkWorkflow(Handle handle, String namespace, String id, ScheduleInfo.Target target) {
        var sql = """
                SELECT count(*) > 0
                  FROM steadwork.definition
                 WHERE namespace = :namespace
                   AND type = :type
                """;
        boolean known = target.check() == TriggerCheck.ACCEPT
                || handle.createQuery(database.sql(sql))
                        .bind("namespace", namespace)
                        .bind("type", target.workflow())
                        .mapTo(Boolean.class)
                        .one();
        if (!known) {
            throw new PreconditionFailed(
                    "Schedule %s: workflow %s is not registered in namespace %s. Start a worker that handles it, call steadwork.register(...), or say check(TriggerCheck.ACCEPT)."
                            .formatted(id, target.workflow(), namespace));
        }
    }

    @Override
    public @Nullable ScheduleInfo find(String namespace, String id) {
        var sql = """
                SELECT schedule_id, type, demand, queue, priority, version, tags, cron, zone, max_catchup, overlap, jitter,
                       enabled, next_slot, buffered_slot, last_slot, last_run_id, last_error, revision, created_at, updated_at
                  FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .map(ScheduleRows::info)
                .findOne()
                .orElse(null));
    }

    @Override
    public List<ScheduleInfo> list(String namespace, @Nullable String after, int limit) {
        var sql = """
                SELECT schedule_id, type, demand, queue, priority, version, tags, cron, zone, max_catchup, overlap, jitter,
                       enabled, next_slot, buffered_slot, last_slot, last_run_id, last_error, revision, created_at, updated_at
                  FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id > :after
                 ORDER BY schedule_id
                 LIMIT :limit
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("after", after == null ? "" : after)
                .bind("limit", limit)
                .map(ScheduleRows::info)
                .list());
    }

    @Override
    public boolean update(String namespace, ScheduleInfo seen, ScheduleSettings settings, NextSlot next) {
        var id = seen.id();
        boolean buffers = settings.enabled() && settings.rules().overlap() == OverlapPolicy.BUFFER_ONE;
        boolean updated = database.inTransaction(handle -> {
            var locked = LockedSchedule.lock(database, handle, namespace, id);
            if (locked == null || !locked.stillIs(seen)) {
                return false;
            }
            if (!locked.triggers(settings.target())) {
                checkWorkflow(handle, namespace, id, settings.target());
            }
            change(handle, namespace, id, settings, next, buffers);
            if (!buffers) {
                log.skipBuffered(handle, namespace, locked);
            }
            return true;
        });
        store.tellScheduled(namespace);
        return updated;
    }

    private void change(
            Handle handle, String namespace, String id, ScheduleSettings settings, NextSlot next, boolean buffers) {
        var sql = """
                UPDATE steadwork.schedule
                   SET type = :type,
                       demand = :demand,
                       queue = :queue,
                       priority = :priority,
                       version = :version,
                       tags = :tags,
                       input_type = CASE WHEN :newInput THEN :inputType ELSE input_type END,
                       input = CASE WHEN :newInput THEN :input ELSE input END,
                       cron = :cron,
                       zone = :zone,
                       max_catchup = :maxCatchup,
                       overlap = :overlap,
                       jitter = :jitter,
                       enabled = :enabled,
                       next_slot = :nextSlot,
                       due_at = :due,
                       buffered_slot = CASE WHEN :buffers THEN buffered_slot END,
                       last_error = NULL,
                       revision = revision + 1,
                       updated_at = :now
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        ScheduleRows.bind(handle.createUpdate(database.sql(sql)), settings)
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("newInput", settings.input() != null)
                .bindByType("nextSlot", next.slot(), Instant.class)
                .bindByType("due", next.due(), Instant.class)
                .bind("buffers", buffers)
                .bind("now", database.now(handle))
                .execute();
    }

    @Override
    public boolean delete(String namespace, String id) {
        var sql = """
                DELETE FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        return database.inTransaction(handle -> {
            var locked = LockedSchedule.lock(database, handle, namespace, id);
            if (locked == null) {
                return false;
            }
            log.skipBuffered(handle, namespace, locked);
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("id", id)
                    .execute();
            return true;
        });
    }

    @Override
    public @Nullable TriggerResult trigger(String namespace, String id) {
        store.lookBefore();
        return manual.trigger(namespace, id);
    }

    @Override
    public @Nullable List<TriggerResult> backfill(String namespace, String id, List<Instant> slots) {
        store.lookBefore();
        return manual.backfill(namespace, id, slots);
    }

    @Override
    public List<ScheduleFiring> firings(String namespace, String id, @Nullable Instant before, int limit) {
        return log.list(namespace, id, before, limit);
    }

    @Override
    public boolean forgetFirings(String namespace, Duration kept) {
        return log.forget(namespace, kept);
    }

    @Override
    public ScheduleOutlook outlook(String namespace) {
        record Line(
                Instant now,
                @Nullable Instant due,
                @Nullable RunId awaited,
                boolean active) {}
        var lines = database.look(handle -> handle.createQuery(
                        database.sql(database.dialect().selectScheduleOutlook()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("limit", MAX_AWAITED + 1)
                .map(row -> new Line(
                        row.getColumn("now", Instant.class),
                        Rows.time(row, "due_at"),
                        row.getColumn("awaited", RunId.class),
                        row.getColumn("active", Boolean.class)))
                .list());
        @Nullable Duration untilNext = null;
        var awaited = new HashSet<RunId>();
        for (var line : lines) {
            if (line.due != null) {
                untilNext = Duration.between(line.now, line.due);
            }
            if (line.awaited != null && line.active) {
                awaited.add(line.awaited);
            } else if (line.awaited != null) {
                untilNext = Duration.ZERO;
            }
        }
        return new ScheduleOutlook(untilNext == null || !untilNext.isNegative() ? untilNext : Duration.ZERO, awaited);
    }

    @Override
    public int fire(String namespace, FirePlan.Planner planner, int limit) {
        store.lookBefore();
        return due.fire(namespace, planner, limit);
    }
}
