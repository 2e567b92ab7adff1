package dev.steadwork.store.jdbc;

import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.Timeout;
import dev.steadwork.Unauthorized;
import dev.steadwork.Unavailable;
import dev.steadwork.store.DueSchedule;
import dev.steadwork.store.FirePlan;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.jdbc.FiringLog.Entry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires schedules that are due. Who does so locks the schedule first; its runs, its history and its advance are one transaction
 * with the lock. The run's idempotency key names the slot, so no slot has two runs.
 */
final class DueFirings {
    private static final Logger LOG = LoggerFactory.getLogger(DueFirings.class);

    private final Database database;
    private final JdbcStore store;
    private final Transitions transitions;
    private final FiringLog log;

    DueFirings(Database database, JdbcStore store, Transitions transitions, FiringLog log) {
        this.database = database;
        this.store = store;
        this.transitions = transitions;
        this.log = log;
    }

    private record Planned(LockedSchedule schedule, FirePlan plan) {}

    /** @param entries what became of the slots, in their order */
    private record Decided(LockedSchedule schedule, FirePlan plan, List<Entry> entries) {
        @Nullable
        Instant lastSlot() {
            return entries.isEmpty() ? null : entries.get(entries.size() - 1).slot();
        }

        /** The entries of runs that were created or refused. */
        List<Entry> tried() {
            return entries.stream()
                    .filter(entry -> entry.outcome() == Outcome.FIRED || entry.outcome() == Outcome.FAILED)
                    .toList();
        }

        @Nullable
        RunId lastRun() {
            @Nullable RunId last = null;
            for (var entry : entries) {
                last = entry.run() == null ? last : entry.run();
            }
            return last;
        }
    }

    private record Settled(int schedules, Effects effects, List<Runnable> cancelled) {}

    int fire(String namespace, FirePlan.Planner planner, int limit) {
        try {
            return fire(namespace, planner, limit, null);
        } catch (Unavailable | Timeout | Unauthorized | PreconditionFailed later) {
            throw later;
        } catch (RuntimeException spoiled) {
            LOG.warn("Schedules of namespace {} are fired one by one: {}", namespace, spoiled.toString());
            return dueIds(namespace, limit).stream()
                    .mapToInt(id -> fireAlone(namespace, planner, id))
                    .sum();
        }
    }

    private int fireAlone(String namespace, FirePlan.Planner planner, String id) {
        try {
            return fire(namespace, planner, 1, id);
        } catch (Unavailable | Timeout | Unauthorized | PreconditionFailed later) {
            throw later;
        } catch (RuntimeException broken) {
            database.inTransaction(handle -> {
                stop(handle, namespace, id, broken.toString());
                return id;
            });
            return 1;
        }
    }

    private int fire(String namespace, FirePlan.Planner planner, int limit, @Nullable String only) {
        var settled = database.inTransaction(handle -> settle(handle, namespace, planner, limit, only));
        settled.effects.tell(store);
        settled.cancelled.forEach(Runnable::run);
        return settled.schedules;
    }

    private Settled settle(
            Handle handle, String namespace, FirePlan.Planner planner, int limit, @Nullable String only) {
        var now = database.now(handle);
        var locked = claim(handle, namespace, now, limit, only);
        var active = active(handle, locked);
        var planned = new ArrayList<Planned>();
        for (var schedule : locked) {
            try {
                planned.add(new Planned(schedule, planner.plan(due(schedule, active), now)));
            } catch (RuntimeException broken) {
                stop(
                        handle,
                        namespace,
                        schedule.id(),
                        Objects.requireNonNullElse(broken.getMessage(), broken.toString()));
            }
        }
        var effects = new Effects();
        var decided = create(handle, namespace, planned, effects);
        var cancelled = cancelRunning(handle, decided);
        log.add(
                handle,
                namespace,
                decided.stream().flatMap(schedule -> schedule.entries.stream()).toList(),
                now);
        advance(handle, namespace, decided);
        return new Settled(locked.size(), effects, cancelled);
    }

    private static DueSchedule due(LockedSchedule schedule, Set<RunId> active) {
        boolean lastIsActive = schedule.lastRun() != null && active.contains(schedule.lastRun());
        return new DueSchedule(
                schedule.id(), schedule.settings(), schedule.nextSlot(), schedule.bufferedSlot(), lastIsActive);
    }

    private List<LockedSchedule> claim(Handle handle, String namespace, Instant now, int limit, @Nullable String only) {
        var claimed = new LinkedHashMap<String, LockedSchedule>();
        handle.createQuery(database.sql(database.dialect().claimDueSchedules()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", now)
                .bind("only", only)
                .bind("limit", limit)
                .map(LockedSchedule::of)
                .forEach(schedule -> claimed.put(schedule.id(), schedule));
        handle.createQuery(database.sql(database.dialect().claimBufferedSchedules()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("only", only)
                .bind("limit", limit)
                .map(LockedSchedule::of)
                .forEach(schedule -> claimed.putIfAbsent(schedule.id(), schedule));
        return List.copyOf(claimed.values());
    }

    /** Looked up after the locks: a schedule that somebody fired just before has another last run. */
    private Set<RunId> active(Handle handle, List<LockedSchedule> locked) {
        record Line(RunId run, RunStatus status, @Nullable Instant deleted) {}
        var runs = locked.stream()
                .map(LockedSchedule::lastRun)
                .filter(Objects::nonNull)
                .map(RunId::toString)
                .toList();
        if (runs.isEmpty()) {
            return Set.of();
        }
        var query = handle.createQuery(database.sql(database.dialect().selectRunStatuses()))
                .bind("shard", Shards.ONLY);
        database.dialect().bindList(query, "runs", runs);
        return query
                .map(row -> new Line(
                        row.getColumn("run_id", RunId.class),
                        row.getColumn("status", RunStatus.class),
                        Rows.time(row, "deleted_at")))
                .stream()
                .filter(line -> !line.status.isTerminal() && line.deleted == null)
                .map(Line::run)
                .collect(Collectors.toSet());
    }

    /** Those in whose place another run came, in the order in which every statement locks runs. */
    private List<Runnable> cancelRunning(Handle handle, List<Decided> decided) {
        return decided.stream()
                .filter(schedule -> schedule.plan.cancelsLast() && schedule.lastRun() != null)
                .map(schedule -> schedule.schedule.lastRun())
                .filter(run -> run != null && decided.stream().noneMatch(schedule -> run.equals(schedule.lastRun())))
                .sorted()
                .map(run -> BulkTransitions.effect(handle, run, transitions::cancel))
                .toList();
    }

    /** The runs of all schedules in one go; those that are refused do not disturb the others. */
    private List<Decided> create(Handle handle, String namespace, List<Planned> planned, Effects effects) {
        var runs = new ArrayList<NewRun>();
        for (var schedule : planned) {
            for (var decision : schedule.plan.decisions()) {
                if (decision.outcome() == Outcome.FIRED) {
                    runs.add(schedule.schedule.settings().run(namespace, schedule.schedule.id(), decision.slot()));
                }
            }
        }
        var results = runs.isEmpty() ? List.<TriggerResult>of() : store.triggerEach(handle, runs, effects);
        if (results.stream().anyMatch(result -> result.outcome() == TriggerResult.Outcome.NAMESPACE_DISABLED)) {
            throw new PreconditionFailed(
                    "Namespace %s is disabled; its schedules are fired when it is enabled.".formatted(namespace));
        }
        var decided = new ArrayList<Decided>();
        int next = 0;
        for (var schedule : planned) {
            var entries = new ArrayList<Entry>();
            var id = schedule.schedule.id();
            for (var decision : schedule.plan.decisions()) {
                if (decision.outcome() == Outcome.FIRED) {
                    entries.add(Entry.of(id, decision.slot(), Cause.CRON, runs.get(next), results.get(next)));
                    next++;
                } else {
                    entries.add(new Entry(id, decision.slot(), decision.outcome(), Cause.CRON, null, null));
                }
            }
            decided.add(new Decided(schedule.schedule, schedule.plan, entries));
        }
        return decided;
    }

    private void advance(Handle handle, String namespace, List<Decided> decided) {
        var sql = """
                UPDATE steadwork.schedule
                   SET next_slot = :nextSlot,
                       due_at = :due,
                       buffered_slot = :bufferedSlot,
                       last_slot = coalesce(:lastSlot, last_slot),
                       last_run_id = coalesce(:lastRun, last_run_id),
                       last_error = CASE WHEN :tried THEN :error ELSE last_error END
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        if (decided.isEmpty()) {
            return;
        }
        var batch = handle.prepareBatch(database.sql(sql));
        for (var schedule : decided) {
            var next = schedule.plan.next();
            var tried = schedule.tried();
            batch.bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("id", schedule.schedule.id())
                    .bindByType("nextSlot", next.slot(), Instant.class)
                    .bindByType("due", next.due(), Instant.class)
                    .bindByType("bufferedSlot", schedule.plan.bufferedSlot(), Instant.class)
                    .bindByType("lastSlot", schedule.lastSlot(), Instant.class)
                    .bindByType("lastRun", schedule.lastRun(), RunId.class)
                    .bind("tried", !tried.isEmpty())
                    .bind(
                            "error",
                            tried.isEmpty() ? null : tried.get(tried.size() - 1).error())
                    .add();
        }
        batch.execute();
    }

    /** Nothing is tried again before somebody changes it: it could not be advanced. */
    private void stop(Handle handle, String namespace, String id, String error) {
        var sql = """
                UPDATE steadwork.schedule
                   SET next_slot = NULL,
                       due_at = NULL,
                       buffered_slot = NULL,
                       last_error = :error
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        LOG.warn("Schedule {} of namespace {} is stopped until it is changed: {}", id, namespace, error);
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("error", Rows.storable(error))
                .execute();
    }

    private List<String> dueIds(String namespace, int limit) {
        var sql = """
                SELECT schedule_id
                  FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND (due_at <= :now OR buffered_slot IS NOT NULL)
                 ORDER BY due_at, schedule_id
                 LIMIT :limit
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", database.now(handle))
                .bind("limit", limit)
                .mapTo(String.class)
                .list());
    }
}
