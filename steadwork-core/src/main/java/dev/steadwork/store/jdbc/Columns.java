package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a statement over many items: one array per column, for {@code unnest}. A column in which no item has
 * a value is NULL as a whole, which {@code unnest} fills up with NULLs: most columns are empty most of the time. What is
 * nearly always the same is therefore not sent either, and put in by the statement.
 *
 * <p>Statements write {@code (SELECT CAST(:runs AS uuid[]))}: the planner does not look into the sub-select, takes all arrays
 * for equally long, and so Postgres keeps one plan instead of making a new one for every call.
 */
final class Columns<T> {
    private static final Instant EARLIEST = Instant.parse("-4000-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("+200000-01-01T00:00:00Z");
    private static final Duration LONGEST = Duration.ofDays(36_500_000);

    private final List<T> items;
    private final Map<String, Object> values = new HashMap<>();

    /** An array parameter; its element type is told even if it is NULL, so that the statement stays prepared. */
    record SqlArray(String elementType, @Nullable Object @Nullable [] elements) {}

    private Columns(List<T> items) {
        this.items = items;
    }

    static <T> Columns<T> of(List<T> items) {
        return new Columns<>(items);
    }

    /** A parameter that is the same for all items. */
    Columns<T> with(String name, Object value) {
        values.put(name, value);
        return this;
    }

    Columns<T> texts(String name, Function<T, @Nullable String> column) {
        return array(name, "text", String[]::new, column);
    }

    /**
     * A column in which most items have the same value: that of the first is a parameter of its own, and the array has a value
     * where another one is meant.
     */
    Columns<T> textsUnlessAlike(String name, String ofFirst, Function<T, String> column) {
        return with(ofFirst, column.apply(items.get(0))).texts(name, unlessAlike(column));
    }

    Columns<T> longsUnlessAlike(String name, String ofFirst, Function<T, Long> column) {
        return with(ofFirst, column.apply(items.get(0))).longs(name, unlessAlike(column));
    }

    private <V> Function<T, @Nullable V> unlessAlike(Function<T, V> column) {
        var first = column.apply(items.get(0));
        return item -> {
            var value = column.apply(item);
            return value.equals(first) ? null : value;
        };
    }

    Columns<T> ints(String name, Function<T, @Nullable Integer> column) {
        return array(name, "int4", Integer[]::new, column);
    }

    Columns<T> longs(String name, Function<T, @Nullable Long> column) {
        return array(name, "int8", Long[]::new, column);
    }

    Columns<T> booleans(String name, Function<T, @Nullable Boolean> column) {
        return array(name, "bool", Boolean[]::new, column);
    }

    Columns<T> uuids(String name, Function<T, @Nullable UUID> column) {
        return array(name, "uuid", UUID[]::new, column);
    }

    Columns<T> bytes(String name, Function<T, byte @Nullable []> column) {
        return array(name, "bytea", byte[][]::new, column);
    }

    /** Times as they are, for a column in which nothing is computed. */
    Columns<T> instants(String name, Function<T, @Nullable Instant> column) {
        return array(name, "timestamptz", Instant[]::new, column);
    }

    /** Times as microseconds since 1970. */
    Columns<T> times(String name, Function<T, @Nullable Instant> column) {
        return longs(name, item -> {
            var time = column.apply(item);
            return time == null ? null : micros(time);
        });
    }

    /** Durations as microseconds. */
    Columns<T> durations(String name, Function<T, @Nullable Duration> column) {
        return longs(name, item -> {
            var duration = column.apply(item);
            return duration == null ? null : micros(duration);
        });
    }

    Map<String, Object> values() {
        return values;
    }

    static SqlArray textArray(List<String> texts) {
        return new SqlArray("text", texts.toArray(String[]::new));
    }

    static SqlArray uuidArray(Collection<RunId> runs) {
        return new SqlArray("uuid", runs.stream().map(RunId::uuid).toArray(UUID[]::new));
    }

    /** Cut off, not rounded, and within what the database can keep. */
    static long micros(Instant time) {
        var kept = time.isBefore(EARLIEST) ? EARLIEST : time.isAfter(LATEST) ? LATEST : time;
        return kept.getEpochSecond() * 1_000_000 + kept.getNano() / 1_000;
    }

    static long micros(Duration duration) {
        var kept = duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
        return kept.getSeconds() * 1_000_000 + kept.getNano() / 1_000;
    }

    private <V> Columns<T> array(
            String name, String elementType, IntFunction<@Nullable V[]> create, Function<T, @Nullable V> column) {
        @Nullable V @Nullable [] elements = null;
        for (int i = 0; i < items.size(); i++) {
            V element = column.apply(items.get(i));
            if (element != null) {
                if (elements == null) {
                    elements = create.apply(items.size());
                }
                elements[i] = element;
            }
        }
        return with(name, new SqlArray(elementType, elements));
    }
}
