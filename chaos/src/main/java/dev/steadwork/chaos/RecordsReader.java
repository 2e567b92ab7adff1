package dev.steadwork.chaos;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what the database has, without the engine. */
final class RecordsReader {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Target target;

    RecordsReader(Target target) {
        this.target = target;
    }

    Records read() throws SQLException {
        try (var connection = target.connect()) {
            connection.setAutoCommit(false); // otherwise Postgres sends all rows at once
            return new Records(runs(connection), steps(connection), firings(connection), effects(connection));
        }
    }

    /** How many runs have not ended. */
    long open() throws SQLException {
        var sql = """
                SELECT count(*) AS open
                  FROM steadwork.run
                 WHERE status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                """;
        try (var connection = target.connect();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(target.sql(sql))) {
            rows.next();
            return rows.getLong("open");
        }
    }

    private Map<String, Records.Run> runs(Connection connection) throws SQLException {
        var sql = """
                SELECT run_id, type, status, lease_epoch, idempotency_key, output, error
                  FROM steadwork.run
                """;
        var runs = new HashMap<String, Records.Run>();
        try (var statement = parts(connection);
                var rows = statement.executeQuery(target.sql(sql))) {
            while (rows.next()) {
                var id = rows.getString("run_id");
                runs.put(
                        id,
                        new Records.Run(
                                id,
                                rows.getString("type"),
                                rows.getString("status"),
                                rows.getLong("lease_epoch"),
                                text(rows, "idempotency_key"),
                                value(rows.getBytes("output")),
                                text(rows, "error")));
            }
        }
        return runs;
    }

    private Map<String, Map<String, Records.Step>> steps(Connection connection) throws SQLException {
        var sql = """
                SELECT run_id, name, kind, status, output, wake_at, child_run_id
                  FROM steadwork.step
                """;
        var steps = new HashMap<String, Map<String, Records.Step>>();
        try (var statement = parts(connection);
                var rows = statement.executeQuery(target.sql(sql))) {
            while (rows.next()) {
                var step = new Records.Step(
                        rows.getString("run_id"),
                        rows.getString("name"),
                        rows.getString("kind"),
                        rows.getString("status"),
                        value(rows.getBytes("output")),
                        workersMicros(rows.getObject("wake_at")),
                        text(rows, "child_run_id"));
                steps.computeIfAbsent(step.run(), run -> new HashMap<>(4)).put(step.name(), step);
            }
        }
        return steps;
    }

    private List<Records.Firing> firings(Connection connection) throws SQLException {
        var sql = """
                SELECT slot, outcome, run_id
                  FROM steadwork.schedule_firing
                 ORDER BY slot
                """;
        var firings = new ArrayList<Records.Firing>();
        try (var statement = parts(connection);
                var rows = statement.executeQuery(target.sql(sql))) {
            while (rows.next()) {
                var slot = micros(rows.getObject("slot"));
                firings.add(
                        new Records.Firing(slot == null ? 0 : slot, rows.getString("outcome"), text(rows, "run_id")));
            }
        }
        return firings;
    }

    private static List<Records.Effect> effects(Connection connection) throws SQLException {
        var sql = """
                SELECT run_id, value
                  FROM chaos_effect
                """;
        var effects = new ArrayList<Records.Effect>();
        try (var statement = parts(connection);
                var rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                effects.add(new Records.Effect(rows.getString("run_id"), rows.getString("value")));
            }
        }
        return effects;
    }

    private static Statement parts(Connection connection) throws SQLException {
        var statement = connection.createStatement();
        statement.setFetchSize(10_000);
        return statement;
    }

    private static String text(ResultSet rows, String column) throws SQLException {
        var text = rows.getString(column);
        return text == null ? "" : text;
    }

    private static String value(byte @Nullable [] payload) {
        if (payload == null) {
            return "";
        }
        try {
            return JSON.readValue(payload, String.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable Long workersMicros(@Nullable Object time) {
        var micros = micros(time);
        return micros == null
                ? null
                : micros - ChronoUnit.MICROS.between(Instant.EPOCH, Instant.EPOCH.plus(target.ahead()));
    }

    private static @Nullable Long micros(@Nullable Object time) {
        if (time instanceof Timestamp stamp) {
            return ChronoUnit.MICROS.between(Instant.EPOCH, stamp.toInstant());
        }
        return time instanceof Number number ? number.longValue() : null;
    }
}
