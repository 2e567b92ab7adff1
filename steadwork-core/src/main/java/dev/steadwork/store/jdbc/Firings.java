package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.Timeout;
import dev.steadwork.Unavailable;
import dev.steadwork.store.DueSchedule;
import dev.steadwork.store.FirePlan;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.ScheduleSettings;
import dev.steadwork.store.TriggerResult;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires schedules. Whoever does so locks the schedule first; its runs, its firings and its advance are one transaction with
 * the lock. The run's idempotency key names the slot, so no slot has two runs.
 */
final class Firings {
    private static final Logger log = LoggerFactory.getLogger(Firings.class);

    private final Database database;
    private final JdbcStore store;
    private final Transitions transitions;

    Firings(Database database, JdbcStore store, Transitions transitions) {
        this.database = database;
        this.store = store;
        this.transitions = transitions;
    }

    /**
     * A schedule that this transaction has locked.
     *
     * @param settings null if the row cannot be read
     */
    record Locked(
            String id,
            long revision,
            @Nullable ScheduleSettings settings,
            @Nullable String problem,
            @Nullable Instant nextSlot,
            @Nullable Instant bufferedSlot,
            @Nullable RunId lastRun) {

        static Locked of(RowView row) {
            @Nullable ScheduleSettings settings = null;
            @Nullable String problem = null;
            try {
                settings = ScheduleRows.settings(row);
            } catch (RuntimeException unreadable) {
                problem = unreadable.toString();
            }
            return new Locked(
                    row.getColumn("schedule_id", String.class),
                    row.getColumn("revision", Long.class),
                    settings,
                    problem,
                    Rows.time(row, "next_slot"),
                    Rows.time(row, "buffered_slot"),
                    ScheduleRows.lastRun(row));
        }
    }

    /** A schedule with what is to be done with it. */
    private record Planned(Locked schedule, ScheduleSettings settings, FirePlan plan, Map<Instant, NewRun> runs) {
        static Planned of(String namespace, Locked schedule, ScheduleSettings settings, FirePlan plan) {
            var runs = new LinkedHashMap<Instant, NewRun>();
            for (var decision : plan.decisions()) {
                if (decision.outcome() == Outcome.FIRED) {
                    runs.put(decision.slot(), settings.run(namespace, schedule.id, decision.slot()));
                }
            }
            return new Planned(schedule, settings, plan, runs);
        }
    }

    /** A line of the history. */
    private record Entry(
            String schedule,
            Instant slot,
            Outcome outcome,
            Cause cause,
            @Nullable RunId run,
            @Nullable String error) {}

    private record Settled(int schedules, Effects effects, List<Runnable> cancelled) {}

    int fire(String namespace, FirePlan.Planner planner, int limit) {
        try {
            return fire(namespace, planner, limit, null);
        } catch (Unavailable | Timeout later) {
            throw later;
        } catch (RuntimeException spoiled) {
            log.warn("Schedules of namespace {} are fired one by one: {}", namespace, spoiled.toString());
            return due(namespace, limit).stream()
                    .mapToInt(id -> fireAlone(namespace, planner, id))
                    .sum();
        }
    }

    private int fireAlone(String namespace, FirePlan.Planner planner, String id) {
        try {
            return fire(namespace, planner, 1, id);
        } catch (Unavailable | Timeout later) {
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
                var settings = readable(schedule);
                boolean lastIsActive = schedule.lastRun != null && active.contains(schedule.lastRun);
                var due =
                        new DueSchedule(schedule.id, settings, schedule.nextSlot, schedule.bufferedSlot, lastIsActive);
                planned.add(Planned.of(namespace, schedule, settings, planner.plan(due, now)));
            } catch (RuntimeException broken) {
                stop(
                        handle,
                        namespace,
                        schedule.id,
                        Objects.requireNonNullElse(broken.getMessage(), broken.toString()));
            }
        }
        var cancelled = cancelRunning(handle, planned);
        var effects = new Effects();
        var results = create(handle, planned, effects);
        record(handle, namespace, entries(namespace, planned, results), now);
        advance(handle, namespace, planned, results);
        return new Settled(locked.size(), effects, cancelled);
    }

    private static ScheduleSettings readable(Locked schedule) {
        if (schedule.settings == null) {
            throw new IllegalStateException("The schedule's row cannot be read: " + schedule.problem);
        }
        return schedule.settings;
    }

    private List<Locked> claim(Handle handle, String namespace, Instant now, int limit, @Nullable String only) {
        var claimed = new LinkedHashMap<String, Locked>();
        handle.createQuery(database.sql(database.dialect().claimDueSchedules()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("now", now)
                .bind("only", only)
                .bind("limit", limit)
                .map(Locked::of)
                .forEach(schedule -> claimed.put(schedule.id, schedule));
        handle.createQuery(database.sql(database.dialect().claimBufferedSchedules()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("only", only)
                .bind("limit", limit)
                .map(Locked::of)
                .forEach(schedule -> claimed.putIfAbsent(schedule.id, schedule));
        return List.copyOf(claimed.values());
    }

    /** Looked up after the locks: a schedule that somebody fired just before has another last run. */
    private Set<RunId> active(Handle handle, List<Locked> locked) {
        record Line(RunId run, RunStatus status, @Nullable Instant deleted) {}
        var runs = locked.stream()
                .map(Locked::lastRun)
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

    /** In the order in which every statement locks runs. */
    private List<Runnable> cancelRunning(Handle handle, List<Planned> planned) {
        return planned.stream()
                .filter(schedule -> schedule.plan.cancelsLast())
                .map(schedule -> schedule.schedule.lastRun)
                .filter(Objects::nonNull)
                .sorted()
                .map(run -> BulkTransitions.effect(handle, run, transitions::cancel))
                .toList();
    }

    private Map<RunId, TriggerResult> create(Handle handle, List<Planned> planned, Effects effects) {
        var runs = planned.stream()
                .flatMap(schedule -> schedule.runs.values().stream())
                .toList();
        return create(handle, runs, effects);
    }

    private Map<RunId, TriggerResult> create(Handle handle, Collection<NewRun> runs, Effects effects) {
        var results = new LinkedHashMap<RunId, TriggerResult>();
        var ordered = List.copyOf(runs);
        if (!ordered.isEmpty()) {
            var answers = store.triggerEach(handle, ordered, effects);
            for (int i = 0; i < ordered.size(); i++) {
                results.put(ordered.get(i).id(), answers.get(i));
            }
        }
        return results;
    }

    private static List<Entry> entries(String namespace, List<Planned> planned, Map<RunId, TriggerResult> results) {
        var entries = new ArrayList<Entry>();
        for (var schedule : planned) {
            for (var decision : schedule.plan.decisions()) {
                var run = schedule.runs.get(decision.slot());
                entries.add(
                        run == null
                                ? new Entry(
                                        schedule.schedule.id,
                                        decision.slot(),
                                        decision.outcome(),
                                        Cause.CRON,
                                        null,
                                        null)
                                : entry(namespace, schedule.schedule.id, decision.slot(), Cause.CRON, run, results));
            }
        }
        return entries;
    }

    private static Entry entry(
            String namespace,
            String schedule,
            Instant slot,
            Cause cause,
            NewRun run,
            Map<RunId, TriggerResult> results) {
        var result = resultOf(run, results);
        return result.accepted()
                ? new Entry(schedule, slot, Outcome.FIRED, cause, result.id(), null)
                : new Entry(schedule, slot, Outcome.FAILED, cause, null, result.whyRefused(namespace, run.type()));
    }

    private static TriggerResult resultOf(NewRun run, Map<RunId, TriggerResult> results) {
        return Objects.requireNonNull(results.get(run.id()));
    }

    /** A slot that was fired stays so; one that waited, was skipped or failed may be fired after all. */
    private void record(Handle handle, String namespace, List<Entry> entries, Instant now) {
        var sql = """
                INSERT INTO steadwork.schedule_firing AS f
                    (shard, namespace, schedule_id, slot, outcome, cause, run_id, error, decided_at)
                VALUES
                    (:shard, :namespace, :id, :slot, :outcome, :cause, :run, :error, :now)
                ON CONFLICT (shard, namespace, schedule_id, slot) DO UPDATE
                   SET outcome = excluded.outcome,
                       cause = excluded.cause,
                       run_id = excluded.run_id,
                       error = excluded.error,
                       decided_at = excluded.decided_at
                 WHERE f.outcome <> 'FIRED'
                """;
        if (entries.isEmpty()) {
            return;
        }
        var batch = handle.prepareBatch(database.sql(sql));
        for (var entry : entries) {
            batch.bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("id", entry.schedule)
                    .bind("slot", entry.slot)
                    .bind("outcome", entry.outcome.name())
                    .bind("cause", entry.cause.name())
                    .bindByType("run", entry.run, RunId.class)
                    .bind("error", entry.error)
                    .bind("now", now)
                    .add();
        }
        batch.execute();
    }

    private void advance(Handle handle, String namespace, List<Planned> planned, Map<RunId, TriggerResult> results) {
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
        if (planned.isEmpty()) {
            return;
        }
        var batch = handle.prepareBatch(database.sql(sql));
        for (var schedule : planned) {
            var next = schedule.plan.next();
            var entries = entries(namespace, List.of(schedule), results);
            var last = entries.isEmpty() ? null : entries.get(entries.size() - 1);
            var tried = entries.stream()
                    .filter(entry -> schedule.runs.containsKey(entry.slot))
                    .toList();
            batch.bind("shard", Shards.ONLY)
                    .bind("namespace", namespace)
                    .bind("id", schedule.schedule.id)
                    .bindByType("nextSlot", next.slot(), Instant.class)
                    .bindByType("due", next.due(), Instant.class)
                    .bindByType("bufferedSlot", schedule.plan.bufferedSlot(), Instant.class)
                    .bindByType("lastSlot", last == null ? null : last.slot, Instant.class)
                    .bindByType("lastRun", lastRun(tried), RunId.class)
                    .bind("tried", !tried.isEmpty())
                    .bind("error", tried.isEmpty() ? null : tried.get(tried.size() - 1).error)
                    .add();
        }
        batch.execute();
    }

    private static @Nullable RunId lastRun(List<Entry> tried) {
        @Nullable RunId last = null;
        for (var entry : tried) {
            last = entry.run == null ? last : entry.run;
        }
        return last;
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
        log.warn("Schedule {} of namespace {} is stopped until it is changed: {}", id, namespace, error);
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("error", Rows.storable(error))
                .execute();
    }

    private List<String> due(String namespace, int limit) {
        var sql = """
                SELECT schedule_id
                  FROM steadwork.schedule
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND due_at IS NOT NULL
                   AND due_at <= :now
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

    /** The schedule, locked by an update that changes nothing; null if there is none. */
    @Nullable
    Locked lock(Handle handle, String namespace, String id) {
        var sql = """
                UPDATE steadwork.schedule
                   SET revision = revision
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                RETURNING schedule_id, type, demand, queue, priority, version, tags, input_type, input, cron, zone,
                          max_catchup, overlap, jitter, enabled, next_slot, buffered_slot, last_run_id, revision
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .map(Locked::of)
                .findOne()
                .orElse(null);
    }

    void skipBuffered(Handle handle, String namespace, Locked schedule) {
        if (schedule.bufferedSlot != null) {
            var skipped = new Entry(schedule.id, schedule.bufferedSlot, Outcome.SKIPPED, Cause.CRON, null, null);
            record(handle, namespace, List.of(skipped), database.now(handle));
        }
    }

    @Nullable
    TriggerResult trigger(String namespace, String id) {
        record Answer(TriggerResult result, Effects effects) {}
        var answer = database.inTransaction(handle -> {
            var schedule = lock(handle, namespace, id);
            if (schedule == null) {
                return null;
            }
            var now = database.now(handle);
            var slot = freeSlot(handle, namespace, id, now);
            var run = readable(schedule).run(namespace, id, slot);
            var effects = new Effects();
            var results = create(handle, List.of(run), effects);
            var result = resultOf(run, results);
            if (result.accepted()) {
                record(handle, namespace, List.of(entry(namespace, id, slot, Cause.TRIGGER, run, results)), now);
                rememberRun(handle, namespace, id, result.id());
            }
            return new Answer(result, effects);
        });
        if (answer == null) {
            return null;
        }
        answer.effects.tell(store);
        return answer.result;
    }

    /** Never a whole second, so that it cannot take the place of a slot of the cron expression. */
    private Instant freeSlot(Handle handle, String namespace, String id, Instant now) {
        var slot = now.getNano() == 0 ? now.plus(1, ChronoUnit.MICROS) : now;
        while (!taken(handle, namespace, id, slot, slot).isEmpty()) {
            slot = slot.plus(1, ChronoUnit.MICROS);
        }
        return slot;
    }

    private void rememberRun(Handle handle, String namespace, String id, RunId run) {
        var sql = """
                UPDATE steadwork.schedule
                   SET last_run_id = :run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("run", run)
                .execute();
    }

    /** Carries the answers out of a transaction that is to be rolled back. */
    private static final class Refused extends RuntimeException {
        private final transient List<TriggerResult> results;

        Refused(List<TriggerResult> results) {
            this.results = results;
        }
    }

    @Nullable
    List<TriggerResult> backfill(String namespace, String id, List<Instant> slots) {
        record Answer(List<TriggerResult> results, Effects effects) {}
        try {
            var answer = database.inTransaction(handle -> {
                var schedule = lock(handle, namespace, id);
                if (schedule == null) {
                    return null;
                }
                var effects = new Effects();
                return new Answer(fillIn(handle, namespace, schedule, slots, effects), effects);
            });
            if (answer == null) {
                return null;
            }
            answer.effects.tell(store);
            return answer.results;
        } catch (Refused refused) {
            return refused.results;
        }
    }

    private List<TriggerResult> fillIn(
            Handle handle, String namespace, Locked schedule, List<Instant> slots, Effects effects) {
        if (slots.isEmpty()) {
            return List.of();
        }
        var settings = readable(schedule);
        var taken = taken(handle, namespace, schedule.id, slots.get(0), slots.get(slots.size() - 1));
        var runs = new LinkedHashMap<Instant, NewRun>();
        slots.stream()
                .filter(slot -> !taken.contains(slot))
                .forEach(slot -> runs.put(slot, settings.run(namespace, schedule.id, slot)));
        var results = create(handle, runs.values(), effects);
        var answers = List.copyOf(results.values());
        if (!answers.stream().allMatch(TriggerResult::accepted)) {
            throw new Refused(answers);
        }
        var entries = new ArrayList<Entry>();
        runs.forEach((slot, run) -> entries.add(entry(namespace, schedule.id, slot, Cause.BACKFILL, run, results)));
        record(handle, namespace, entries, database.now(handle));
        return answers;
    }

    /** The slots from one to another that were fired, or wait to be. */
    private Set<Instant> taken(Handle handle, String namespace, String id, Instant first, Instant last) {
        var sql = """
                SELECT slot
                  FROM steadwork.schedule_firing
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                   AND slot >= :first
                   AND slot <= :last
                   AND outcome IN ('FIRED', 'BUFFERED')
                """;
        return new HashSet<>(handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("first", first)
                .bind("last", last)
                .mapTo(Instant.class)
                .list());
    }
}
