package dev.steadwork.store.jdbc;

import dev.steadwork.RetryPolicy;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Signals;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What workflow types were registered with, as this process last saw it, so that most triggers need not ask. Who registers tells
 * other processes where the database can; besides, nothing is believed for long.
 */
final class KnownDefinitions implements Signals.Listener {
    private static final long MAX_AGE_NANOS = Duration.ofSeconds(15).toNanos();
    private static final int MAX_KNOWN = 10_000;

    private final Database database;
    private final Map<Type, Seen> known = new ConcurrentHashMap<>();

    /** What a new run gets that does not say otherwise. */
    record Defaults(String queue, @Nullable RetryPolicy retry, boolean hasTimeout) {}

    private record Type(String namespace, String name) {
        static Type of(NewRun run) {
            return new Type(run.namespace(), run.type());
        }
    }

    /** @param defaults null if nobody has registered the type */
    private record Seen(@Nullable Defaults defaults, long atNanos) {
        boolean isOld() {
            return System.nanoTime() - atNanos >= MAX_AGE_NANOS;
        }
    }

    KnownDefinitions(Database database) {
        this.database = database;
    }

    /** Looks up what is not known, or was for too long. Outside transactions. */
    void look(Collection<NewRun> runs) {
        for (var type : runs.stream().map(Type::of).collect(Collectors.toSet())) {
            var seen = known.get(type);
            if (seen == null || seen.isOld()) {
                if (known.size() >= MAX_KNOWN) {
                    known.clear();
                }
                long now = System.nanoTime(); // before the look: it is not younger than this
                known.put(type, new Seen(read(type), now));
            }
        }
    }

    /** Null if nobody has registered the type as far as is known. */
    @Nullable
    Defaults of(NewRun run) {
        var seen = known.get(Type.of(run));
        return seen == null ? null : seen.defaults;
    }

    private @Nullable Defaults read(Type type) {
        var sql = """
                SELECT queue, retry, timeout_ms IS NOT NULL AS has_timeout
                  FROM steadwork.definition
                 WHERE namespace = :namespace
                   AND type = :type
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("namespace", type.namespace)
                .bind("type", type.name)
                .map((row, context) -> new Defaults(
                        row.getString("queue"),
                        row.getString("retry") == null ? null : Rows.retry(row.getString("retry")),
                        row.getBoolean("has_timeout")))
                .findOne()
                .orElse(null));
    }

    @Override
    public void settings() {
        known.clear();
    }

    @Override
    public void gap() {
        known.clear();
    }
}
