package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.TriggerResult;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The history of schedules: what became of each slot. Whoever writes it has locked the schedule. */
final class FiringLog {
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /** Firings that one transaction deletes. */
    private static final int PART = 500;

    private final Database database;

    FiringLog(Database database) {
        this.database = database;
    }

    /** A line of the history. */
    record Entry(
            String schedule,
            Instant slot,
            Outcome outcome,
            Cause cause,
            @Nullable RunId run,
            @Nullable String error) {

        static Entry of(String schedule, Instant slot, Cause cause, NewRun run, TriggerResult result) {
            return result.accepted()
                    ? new Entry(schedule, slot, Outcome.FIRED, cause, result.id(), null)
                    : new Entry(
                            schedule,
                            slot,
                            Outcome.FAILED,
                            cause,
                            null,
                            result.whyRefused(run.namespace(), run.type()));
        }
    }

    /** A slot that was fired stays so; one that waited, was skipped or failed may be fired after all. */
    void add(Handle handle, String namespace, List<Entry> entries, Instant now) {
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

    /** The slot that waited for the end of a run will not be fired. */
    void skipBuffered(Handle handle, String namespace, LockedSchedule schedule) {
        if (schedule.bufferedSlot() != null) {
            var skipped = new Entry(schedule.id(), schedule.bufferedSlot(), Outcome.SKIPPED, Cause.CRON, null, null);
            add(handle, namespace, List.of(skipped), database.now(handle));
        }
    }

    /** Newest first. */
    List<ScheduleFiring> list(String namespace, String id, @Nullable Instant before, int limit) {
        var sql = """
                SELECT slot, outcome, cause, run_id, error, decided_at
                  FROM steadwork.schedule_firing
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND schedule_id = :id
                   AND slot < :before
                 ORDER BY slot DESC
                 LIMIT :limit
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("id", id)
                .bind("before", before == null ? LATEST : before)
                .bind("limit", limit)
                .map(ScheduleRows::firing)
                .list());
    }

    /** Deletes a part of what was decided longer ago; returns whether there may be more. */
    boolean forget(String namespace, Duration kept) {
        // The time is asked for twice: who changes a firing meanwhile decides it anew.
        var sql = """
                DELETE FROM steadwork.schedule_firing
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND decided_at < :before
                   AND (schedule_id, slot) IN (
                       SELECT schedule_id, slot
                         FROM steadwork.schedule_firing
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND decided_at < :before
                          AND outcome <> 'BUFFERED'
                        ORDER BY decided_at
                        LIMIT :part)
                """;
        int deleted = database.inTransaction(handle -> handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("before", database.now(handle).minus(kept))
                .bind("part", PART)
                .execute());
        return deleted == PART;
    }

    /** The slots from one to another that were fired, or wait to be. */
    Set<Instant> taken(Handle handle, String namespace, String id, Instant first, Instant last) {
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
