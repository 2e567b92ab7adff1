package dev.steadwork.store.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.Serialization;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.StepRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/** Rows to records, and records to columns. A column that is NULL has its default value. */
final class Rows {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private Rows() {}

    static @Nullable String retryJson(@Nullable RetryPolicy retry) {
        if (retry == null) {
            return null;
        }
        var json = JSON.createObjectNode()
                .put("maxAttempts", retry.maxAttempts())
                .put("initialInterval", retry.initialInterval().toString())
                .put("coefficient", retry.coefficient())
                .put("maxInterval", retry.maxInterval().toString())
                .put("jitter", retry.jitter());
        var nonRetryable = json.putArray("nonRetryable");
        retry.nonRetryable().stream().sorted().forEach(nonRetryable::add);
        return json.toString();
    }

    static RetryPolicy retry(@Nullable String json) {
        if (json == null) {
            return RetryPolicy.defaults();
        }
        var tree = tree(json);
        var nonRetryable = new HashSet<String>();
        tree.path("nonRetryable").forEach(name -> nonRetryable.add(name.asText()));
        return new RetryPolicy(
                tree.path("maxAttempts").asInt(),
                Duration.parse(tree.path("initialInterval").asText()),
                tree.path("coefficient").asDouble(),
                Duration.parse(tree.path("maxInterval").asText()),
                tree.path("jitter").asDouble(),
                nonRetryable);
    }

    static @Nullable String errorJson(@Nullable RunError error) {
        if (error == null) {
            return null;
        }
        var json = JSON.createObjectNode().put("type", storable(error.type()));
        putIfGiven(json, "message", error.message());
        putIfGiven(json, "step", error.step());
        putIfGiven(json, "stackTrace", error.stackTrace());
        return json.toString();
    }

    private static void putIfGiven(ObjectNode json, String name, @Nullable String value) {
        if (value != null) {
            json.put(name, storable(value));
        }
    }

    static @Nullable RunError error(@Nullable String json) {
        if (json == null) {
            return null;
        }
        var tree = tree(json);
        return new RunError(
                tree.path("type").asText(),
                textOrNull(tree.get("message")),
                textOrNull(tree.get("step")),
                textOrNull(tree.get("stackTrace")));
    }

    /** Tags with sorted keys, null if there are none. */
    static @Nullable String tagsJson(Map<String, String> tags) {
        if (tags.isEmpty()) {
            return null;
        }
        var json = JSON.createObjectNode();
        new TreeMap<>(tags).forEach(json::put);
        return json.toString();
    }

    static Map<String, String> tags(@Nullable String json) {
        if (json == null) {
            return Map.of();
        }
        var tags = new TreeMap<String, String>();
        tree(json)
                .fields()
                .forEachRemaining(tag -> tags.put(tag.getKey(), tag.getValue().asText()));
        return Map.copyOf(tags);
    }

    static String listJson(Collection<String> values) {
        var json = JSON.createArrayNode();
        values.forEach(json::add);
        return json.toString();
    }

    /** A list as {@link #listJson} wrote it; empty if there is none. */
    static List<String> list(@Nullable String json) {
        if (json == null) {
            return List.of();
        }
        var values = new ArrayList<String>();
        tree(json).forEach(value -> values.add(value.asText()));
        return List.copyOf(values);
    }

    /** The content type as it is stored: the common one, JSON, is NULL. */
    static @Nullable String payloadType(Payload payload) {
        return payload.isNone() || payload.contentType().equals(Payload.JSON) ? null : payload.contentType();
    }

    /** The bytes as they are stored: no value at all is NULL. */
    static byte @Nullable [] payloadBytes(Payload payload) {
        return payload.isNone() ? null : payload.bytes();
    }

    static Payload payload(@Nullable String type, byte @Nullable [] bytes) {
        if (bytes == null) {
            return Payload.NONE;
        }
        return new Payload(bytes, type == null ? Payload.JSON : type);
    }

    /** Text that both databases can keep: NUL and halves of surrogate pairs become U+FFFD. */
    static String storable(String text) {
        boolean clean = text.chars().noneMatch(c -> c == 0 || Character.isSurrogate((char) c));
        if (clean) {
            return text;
        }
        var kept = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c == 0 || c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
                .forEach(kept::appendCodePoint);
        return kept.toString();
    }

    static RunInfo runInfo(RowView row) {
        var keyPolicy = text(row, "key_policy");
        return new RunInfo(
                row.getColumn("run_id", RunId.class),
                row.getColumn("namespace", String.class),
                row.getColumn("type", String.class),
                row.getColumn("queue", String.class),
                text(row, "concurrency_key"),
                RunStatus.valueOf(row.getColumn("status", String.class)),
                row.getColumn("priority", Integer.class),
                row.getColumn("attempt", Integer.class),
                retry(text(row, "retry")),
                text(row, "version"),
                text(row, "external_id"),
                text(row, "idempotency_key"),
                keyPolicy == null ? KeyPolicy.FOREVER : KeyPolicy.valueOf(keyPolicy),
                parent(row),
                tags(text(row, "tags")),
                times(row),
                new RunInfo.Lease(
                        text(row, "worker"),
                        row.getColumn("lease_epoch", Long.class),
                        row.getColumn("lost_leases", Integer.class)),
                error(text(row, "error")),
                runningStep(row),
                text(row, "deleted_reason"),
                row.getColumn("compensates", Boolean.class));
    }

    static RunInfo.@Nullable Parent parent(RowView row) {
        @Nullable RunId run = row.getColumn("parent_run_id", RunId.class);
        return run == null ? null : new RunInfo.Parent(run, text(row, "parent_step"));
    }

    private static RunInfo.Times times(RowView row) {
        return new RunInfo.Times(
                row.getColumn("created_at", Instant.class),
                time(row, "started_at"),
                time(row, "finished_at"),
                time(row, "paused_at"),
                row.getColumn("updated_at", Instant.class),
                time(row, "due_at"),
                time(row, "deadline"),
                time(row, "cancel_requested_at"),
                time(row, "pause_requested_at"),
                time(row, "deleted_at"));
    }

    private static RunInfo.@Nullable RunningStep runningStep(RowView row) {
        var name = text(row, "step_name");
        var since = time(row, "step_since");
        return name == null || since == null ? null : new RunInfo.RunningStep(name, since);
    }

    static RunEnd runEnd(RowView row) {
        return new RunEnd(
                row.getColumn("run_id", RunId.class),
                RunStatus.valueOf(row.getColumn("status", String.class)),
                payload(row, "output"),
                error(text(row, "error")));
    }

    /** A step as the worker gets it back; its recorded input only if the row has it. */
    static StepRecord stepRecord(RowView row, Payload input) {
        return new StepRecord(
                stepKey(row),
                StepKind.valueOf(row.getColumn("kind", String.class)),
                StepStatus.valueOf(row.getColumn("status", String.class)),
                row.getColumn("attempt", Integer.class),
                input,
                payload(row, "output"),
                error(text(row, "error")),
                time(row, "started_at"),
                time(row, "finished_at"),
                time(row, "wake_at"),
                row.getColumn("child_run_id", RunId.class));
    }

    static AttemptRecord attemptRecord(RowView row) {
        var error = error(row.getColumn("error", String.class));
        return new AttemptRecord(
                stepKey(row),
                StepKind.valueOf(row.getColumn("kind", String.class)),
                row.getColumn("attempt", Integer.class),
                error == null ? new RunError("unknown", null, null, null) : error,
                row.getColumn("started_at", Instant.class),
                row.getColumn("finished_at", Instant.class));
    }

    static StepRecord.Key stepKey(RowView row) {
        return new StepRecord.Key(
                row.getColumn("name", String.class),
                row.getColumn("occurrence", Integer.class),
                row.getColumn("position", Integer.class));
    }

    /** The payload in the columns {@code <column>_type} and {@code <column>}. */
    static Payload payload(RowView row, String column) {
        return payload(text(row, column + "_type"), row.getColumn(column, byte[].class));
    }

    static @Nullable String text(RowView row, String column) {
        return row.getColumn(column, String.class);
    }

    static @Nullable Instant time(RowView row, String column) {
        return row.getColumn(column, Instant.class);
    }

    private static @Nullable String textOrNull(@Nullable JsonNode node) {
        return node == null || node.isNull() ? null : node.asText();
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new Serialization("A stored value is not the JSON that was written: " + json, e);
        }
    }
}
