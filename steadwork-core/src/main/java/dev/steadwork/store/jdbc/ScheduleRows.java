package dev.steadwork.store.jdbc;

import dev.steadwork.OverlapPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.Serialization;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/** Rows of schedules to records, and records to columns. */
final class ScheduleRows {
    private ScheduleRows() {}

    static ScheduleInfo info(RowView row) {
        return new ScheduleInfo(
                row.getColumn("schedule_id", String.class),
                target(row, readableTags(Rows.text(row, "tags"))),
                row.getColumn("cron", String.class),
                row.getColumn("zone", String.class),
                rules(row),
                row.getColumn("enabled", Boolean.class),
                state(row),
                row.getColumn("revision", Long.class),
                row.getColumn("created_at", Instant.class),
                row.getColumn("updated_at", Instant.class));
    }

    /** A row that somebody edited can still be looked at and repaired, and does not hide the others of a list. */
    private static Map<String, String> readableTags(@Nullable String json) {
        try {
            return Rows.tags(json);
        } catch (Serialization unreadable) {
            return Map.of();
        }
    }

    private static ScheduleInfo.Target target(RowView row, Map<String, String> tags) {
        return new ScheduleInfo.Target(
                row.getColumn("type", String.class),
                TriggerCheck.valueOf(row.getColumn("demand", String.class)),
                Rows.text(row, "queue"),
                row.getColumn("priority", Integer.class),
                Rows.text(row, "version"),
                tags);
    }

    private static ScheduleInfo.Rules rules(RowView row) {
        return new ScheduleInfo.Rules(
                row.getColumn("max_catchup", Integer.class),
                OverlapPolicy.valueOf(row.getColumn("overlap", String.class)),
                Duration.of(row.getColumn("jitter", Long.class), ChronoUnit.MICROS));
    }

    private static ScheduleInfo.State state(RowView row) {
        return new ScheduleInfo.State(
                Rows.time(row, "next_slot"),
                Rows.time(row, "buffered_slot"),
                Rows.time(row, "last_slot"),
                lastRun(row),
                Rows.text(row, "last_error"));
    }

    static @Nullable RunId lastRun(RowView row) {
        return row.getColumn("last_run_id", RunId.class);
    }

    static ScheduleSettings settings(RowView row) {
        return new ScheduleSettings(
                target(row, Rows.tags(Rows.text(row, "tags"))),
                row.getColumn("cron", String.class),
                row.getColumn("zone", String.class),
                rules(row),
                row.getColumn("enabled", Boolean.class),
                Rows.payload(row, "input"));
    }

    static ScheduleFiring firing(RowView row) {
        return new ScheduleFiring(
                row.getColumn("slot", Instant.class),
                ScheduleFiring.Outcome.valueOf(row.getColumn("outcome", String.class)),
                ScheduleFiring.Cause.valueOf(row.getColumn("cause", String.class)),
                row.getColumn("run_id", RunId.class),
                Rows.text(row, "error"),
                row.getColumn("decided_at", Instant.class));
    }

    /** Binds all columns that people decide on; the input only if it is given. */
    static <S extends SqlStatement<S>> S bind(S statement, ScheduleSettings settings) {
        var target = settings.target();
        var rules = settings.rules();
        var input = settings.input() == null ? Payload.NONE : settings.input();
        return statement
                .bind("type", target.workflow())
                .bind("demand", target.check().name())
                .bind("queue", target.queue())
                .bind("priority", target.priority())
                .bind("version", target.version())
                .bind("tags", Rows.tagsJson(target.tags()))
                .bind("inputType", Rows.payloadType(input))
                .bind("input", Rows.payloadBytes(input))
                .bind("cron", settings.cron())
                .bind("zone", settings.zone())
                .bind("maxCatchup", rules.maxCatchup())
                .bind("overlap", rules.overlap().name())
                .bind("jitter", Columns.micros(rules.jitter()))
                .bind("enabled", settings.enabled());
    }
}
