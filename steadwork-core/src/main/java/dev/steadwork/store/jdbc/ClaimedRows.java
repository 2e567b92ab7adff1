package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The result of a claim on Postgres: rows of runs and rows of their steps. */
final class ClaimedRows {
    private final Map<UUID, List<StepRecord>> steps = new HashMap<>();
    private Instant now = Instant.EPOCH;

    /** The database's time of the claim. */
    Instant now() {
        return now;
    }

    /** The run of the row; null if it has none or is of a step. The first row tells the time, others need not. */
    @Nullable
    ClaimedRun read(ResultSet row) throws SQLException {
        var run = row.getObject("run_id", UUID.class);
        if (row.getString("name") != null) {
            stepsOf(run).add(step(row));
            return null;
        }
        var time = time(row, "now");
        now = time == null ? now : time;
        return run == null ? null : run(row, run);
    }

    /** For a statement that does not return them in the order of their positions. */
    void sortSteps() {
        var byPosition = Comparator.comparingInt((StepRecord step) -> step.key().position());
        steps.values().forEach(list -> list.sort(byPosition));
    }

    private List<StepRecord> stepsOf(UUID run) {
        return steps.computeIfAbsent(run, key -> new ArrayList<>());
    }

    private ClaimedRun run(ResultSet row, UUID run) throws SQLException {
        long epoch = row.getLong("lease_epoch");
        var startedAt = time(row, "started_at");
        return new ClaimedRun(
                new RunId(run),
                row.getString("type"),
                row.getString("queue"),
                row.getInt("priority"),
                epoch,
                row.getInt("attempt"),
                Rows.payload(row.getString("payload_type"), row.getBytes("payload")),
                Rows.retry(row.getString("retry")),
                time(row, "deadline"),
                startedAt == null ? now : startedAt,
                row.getInt("lost_leases"),
                row.getBoolean("cancel_requested"),
                parent(row),
                row.getInt("depth"),
                row.getInt("inbox"),
                row.getBoolean("compensates"),
                epoch == 1 ? List.of() : stepsOf(run));
    }

    private static StepRecord step(ResultSet row) throws SQLException {
        return new StepRecord(
                new StepRecord.Key(row.getString("name"), row.getInt("occurrence"), row.getInt("position")),
                StepKind.valueOf(row.getString("kind")),
                StepStatus.valueOf(row.getString("status")),
                row.getInt("attempt"),
                Payload.NONE,
                Rows.payload(row.getString("payload_type"), row.getBytes("payload")),
                Rows.error(row.getString("error")),
                time(row, "started_at"),
                time(row, "finished_at"),
                time(row, "wake_at"),
                relative(row));
    }

    private static RunInfo.@Nullable Parent parent(ResultSet row) throws SQLException {
        var parent = relative(row);
        return parent == null ? null : new RunInfo.Parent(parent, row.getString("parent_step"));
    }

    /** The parent of a run, the child of a step. */
    private static @Nullable RunId relative(ResultSet row) throws SQLException {
        var id = row.getObject("relative", UUID.class);
        return id == null ? null : new RunId(id);
    }

    private static @Nullable Instant time(ResultSet row, String column) throws SQLException {
        var time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
