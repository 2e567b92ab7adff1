package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidState;
import dev.steadwork.RunId;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.store.ScheduleSettings;
import java.time.Instant;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/**
 * A schedule that a transaction has locked.
 *
 * @param readable its settings; null if the row does not have what it must
 * @param problem why it cannot be read
 */
record LockedSchedule(
        String id,
        long revision,
        @Nullable ScheduleSettings readable,
        @Nullable String problem,
        @Nullable Instant nextSlot,
        @Nullable Instant bufferedSlot,
        @Nullable RunId lastRun) {

    static LockedSchedule of(RowView row) {
        @Nullable ScheduleSettings readable = null;
        @Nullable String problem = null;
        try {
            readable = ScheduleRows.settings(row);
        } catch (RuntimeException unreadable) {
            problem = unreadable.toString();
        }
        return new LockedSchedule(
                row.getColumn("schedule_id", String.class),
                row.getColumn("revision", Long.class),
                readable,
                problem,
                Rows.time(row, "next_slot"),
                Rows.time(row, "buffered_slot"),
                ScheduleRows.lastRun(row));
    }

    /** Whether nobody changed it, and nobody fired it: a slot that was decided on must not come back. */
    boolean stillIs(ScheduleInfo seen) {
        return revision == seen.revision() && Objects.equals(nextSlot, seen.nextSlot());
    }

    /** Whether this is what it triggers already, so that it need not be looked for again. */
    boolean triggers(ScheduleInfo.Target target) {
        return readable != null
                && readable.target().workflow().equals(target.workflow())
                && readable.target().check() == target.check();
    }

    ScheduleSettings settings() {
        if (readable == null) {
            throw new InvalidState("Schedule %s cannot be read; update it, or delete it: %s".formatted(id, problem));
        }
        return readable;
    }

    /** Locks the schedule by an update that changes nothing; null if there is none. */
    static @Nullable LockedSchedule lock(Database database, Handle handle, String namespace, String id) {
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
                .map(LockedSchedule::of)
                .findOne()
                .orElse(null);
    }
}
