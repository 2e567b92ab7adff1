package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.jdbc.FiringLog.Entry;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Fires schedules because somebody asked for it: once now, or for slots of the past. */
final class ManualFirings {
    private final Database database;
    private final JdbcStore store;
    private final FiringLog log;

    ManualFirings(Database database, JdbcStore store, FiringLog log) {
        this.database = database;
        this.store = store;
        this.log = log;
    }

    @Nullable
    TriggerResult trigger(String namespace, String id) {
        record Answer(TriggerResult result, Effects effects) {}
        var answer = database.inTransaction(handle -> {
            var schedule = LockedSchedule.lock(database, handle, namespace, id);
            if (schedule == null) {
                return null;
            }
            var now = database.now(handle);
            var slot = freeSlot(handle, namespace, id, now);
            var run = schedule.settings().run(namespace, id, slot);
            var effects = new Effects();
            var result = store.triggerEach(handle, List.of(run), effects).get(0);
            if (result.accepted()) {
                log.add(handle, namespace, List.of(Entry.of(id, slot, Cause.TRIGGER, run, result)), now);
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
        while (!log.taken(handle, namespace, id, slot, slot).isEmpty()) {
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
                var schedule = LockedSchedule.lock(database, handle, namespace, id);
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
            Handle handle, String namespace, LockedSchedule schedule, List<Instant> slots, Effects effects) {
        if (slots.isEmpty()) {
            return List.of();
        }
        var settings = schedule.settings();
        var taken = log.taken(handle, namespace, schedule.id(), slots.get(0), slots.get(slots.size() - 1));
        var open = slots.stream().filter(slot -> !taken.contains(slot)).toList();
        var runs = open.stream()
                .map(slot -> settings.run(namespace, schedule.id(), slot))
                .toList();
        var answers = runs.isEmpty() ? List.<TriggerResult>of() : store.triggerEach(handle, runs, effects);
        if (!answers.stream().allMatch(TriggerResult::accepted)) {
            throw new Refused(answers);
        }
        var entries = new ArrayList<Entry>();
        for (int i = 0; i < runs.size(); i++) {
            entries.add(Entry.of(schedule.id(), open.get(i), Cause.BACKFILL, runs.get(i), answers.get(i)));
        }
        log.add(handle, namespace, entries, database.now(handle));
        return answers;
    }
}
