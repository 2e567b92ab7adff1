package dev.steadwork.store.jdbc;

import dev.steadwork.QueueLimit;
import dev.steadwork.RunId;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Hands out the runs of limited queues of SQLite. There is one writer, so nobody claims meanwhile. */
final class SqliteLimits {
    /** How many keys that could have a turn one claim looks at. */
    private static final int MAX_KEYS = 1_000;

    /** How many runs one claim looks at to find those without a key. */
    private static final int MAX_UNKEYED_LOOK = 100;

    /** Stands for the runs without a key among the keys that take turns; no key is empty. */
    private static final String NO_KEY = "";

    private final Database database;
    private final SqliteClaims claims;

    SqliteLimits(Database database, SqliteClaims claims) {
        this.database = database;
        this.claims = claims;
    }

    private record Limited(QueueLimit limit, String nextKey) {}

    /** The starts of the queue within its period. */
    private record Recent(long starts, long total, Instant oldest) {}

    Optional<Claimed> claim(Handle handle, ClaimRequest request) {
        return limited(handle, request).map(limited -> claim(handle, request, limited));
    }

    private Claimed claim(Handle handle, ClaimRequest request, Limited limited) {
        var now = database.now(handle);
        var busy = busy(handle, request, now);
        var rate = limited.limit.rate();
        var recent = rate == null ? null : recent(handle, request, now, now.minus(rate.period()));
        int allowed = allowed(request, limited.limit, busy, recent);
        var chosen = choose(handle, request, limited, busy, allowed);
        count(handle, chosen);
        var runs = chosen.isEmpty() ? List.<ClaimedRun>of() : claims.take(handle, request, chosen, now);
        if (recent != null && !runs.isEmpty()) {
            recordStarts(handle, request, now, runs.size(), recent.total + runs.size());
        }
        if (runs.size() == request.limit() || !isAnyWaiting(handle, request)) {
            return new Claimed(now, runs);
        }
        return new Claimed(now, runs, new Claimed.HeldBack(untilNextStart(rate, recent, runs.size(), now)));
    }

    private Optional<Limited> limited(Handle handle, ClaimRequest request) {
        var sql = """
                SELECT max_running, max_per_key, rate_count, rate_period, next_key
                  FROM steadwork.queue_limit
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .map(row -> new Limited(Limits.limit(row), row.getColumn("next_key", String.class)))
                .findOne();
    }

    /** How many runs execute, by key. A deleted one counts as long as its worker lives: nobody promotes it. */
    private Map<String, Integer> busy(Handle handle, ClaimRequest request, Instant now) {
        var sql = """
                SELECT coalesce(concurrency_key, '') AS key, count(*) AS runs
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'RUNNING'
                   AND limited
                   AND (deleted_at IS NULL OR due_at > :now)
                 GROUP BY concurrency_key
                """;
        var busy = new HashMap<String, Integer>();
        handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("now", now)
                .map(row -> Map.entry(row.getColumn("key", String.class), row.getColumn("runs", Integer.class)))
                .forEach(key -> busy.put(key.getKey(), key.getValue()));
        return busy;
    }

    private Recent recent(Handle handle, ClaimRequest request, Instant now, Instant since) {
        var forget = """
                DELETE FROM steadwork.queue_start
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND started_at <= :since
                """;
        var sql = """
                SELECT newest.total AS total,
                       newest.total - oldest.total + oldest.starts AS starts,
                       oldest.started_at AS oldest
                  FROM (SELECT total, starts, started_at
                          FROM steadwork.queue_start
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND queue = :queue
                         ORDER BY started_at DESC, total DESC
                         LIMIT 1) AS newest
                 CROSS JOIN (
                        SELECT total, starts, started_at
                          FROM steadwork.queue_start
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND queue = :queue
                         ORDER BY started_at, total
                         LIMIT 1) AS oldest
                """;
        handle.createUpdate(database.sql(forget))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("since", since)
                .execute();
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .map(row -> new Recent(
                        row.getColumn("starts", Long.class),
                        row.getColumn("total", Long.class),
                        row.getColumn("oldest", Instant.class)))
                .findOne()
                .orElse(new Recent(0, 0, now));
    }

    private static int allowed(
            ClaimRequest request, QueueLimit limit, Map<String, Integer> busy, @Nullable Recent recent) {
        long allowed = request.limit();
        if (limit.concurrency() != null) {
            int running = busy.values().stream().mapToInt(Integer::intValue).sum();
            allowed = Math.min(allowed, limit.concurrency() - running);
        }
        if (limit.rate() != null && recent != null) {
            allowed = Math.min(allowed, limit.rate().starts() - recent.starts);
        }
        return (int) Math.max(0, allowed);
    }

    private List<RunId> choose(
            Handle handle, ClaimRequest request, Limited limited, Map<String, Integer> busy, int allowed) {
        var perKey = limited.limit.perKey();
        if (allowed == 0) {
            return List.of();
        }
        return perKey == null
                ? claims.headOf(handle, queue(request), request, allowed).stream()
                        .map(SqliteClaims.Candidate::run)
                        .toList()
                : inTurn(handle, request, limited.nextKey, perKey, busy, allowed);
    }

    /** Once around all keys that wait, from the one after the last turn, until there is enough. */
    private List<RunId> inTurn(
            Handle handle, ClaimRequest request, String lastTurn, int perKey, Map<String, Integer> busy, int allowed) {
        var chosen = new ArrayList<RunId>();
        long saturated = busy.values().stream().filter(runs -> runs >= perKey).count();
        var key = lastTurn;
        boolean aroundTheEnd = false;
        for (int walked = 0; walked < MAX_KEYS + saturated && chosen.size() < allowed; walked++) {
            var next = keyAfter(handle, request, key, aroundTheEnd ? lastTurn : null);
            if (next.isEmpty() && aroundTheEnd) {
                break;
            }
            aroundTheEnd |= next.isEmpty();
            key = next.orElse(NO_KEY);
            int wanted = allowed - chosen.size();
            chosen.addAll(
                    key.equals(NO_KEY)
                            ? headWithoutKey(handle, request, wanted)
                            : headOfKey(handle, request, key, Math.min(wanted, perKey - busy.getOrDefault(key, 0))));
        }
        if (!key.equals(lastTurn)) {
            rememberTurn(handle, request, key);
        }
        return chosen;
    }

    private Optional<String> keyAfter(Handle handle, ClaimRequest request, String key, @Nullable String last) {
        var sql = """
                SELECT concurrency_key
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'PENDING'
                   AND deleted_at IS NULL
                   AND concurrency_key IS NOT NULL
                   AND concurrency_key > :key
                   AND (:last IS NULL OR concurrency_key <= :last)
                 ORDER BY concurrency_key
                 LIMIT 1
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("key", key)
                .bind("last", last)
                .mapTo(String.class)
                .findOne();
    }

    private List<RunId> headOfKey(Handle handle, ClaimRequest request, String key, int limit) {
        var sql = """
                SELECT run_id
                  FROM steadwork.run AS r
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'PENDING'
                   AND deleted_at IS NULL
                   AND concurrency_key IS NOT NULL
                   AND concurrency_key = :key
                   AND CASE
                       WHEN :prefixes = '[]' THEN r.type IN (SELECT value FROM json_each(:types))
                       ELSE EXISTS (
                           SELECT 1
                             FROM json_each(:prefixes) AS p
                            WHERE substr(r.type, 1, length(p.value)) = p.value)
                       END
                   AND (:versions = '[]' OR version IN (SELECT value FROM json_each(:versions)))
                 ORDER BY priority DESC, due_at, run_id
                 LIMIT :limit
                """;
        if (limit <= 0) {
            return List.of();
        }
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("key", key)
                .bind("types", Rows.listJson(request.types()))
                .bind("prefixes", Rows.listJson(request.typePrefixes()))
                .bind("versions", Rows.listJson(request.versions()))
                .bind("limit", limit)
                .mapTo(RunId.class)
                .list();
    }

    private List<RunId> headWithoutKey(Handle handle, ClaimRequest request, int limit) {
        var sql = """
                SELECT run_id
                  FROM (SELECT run_id, concurrency_key, type, version, priority, due_at
                          FROM steadwork.run
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND queue = :queue
                           AND status = 'PENDING'
                           AND deleted_at IS NULL
                         ORDER BY priority DESC, due_at, run_id
                         LIMIT :look) AS r
                 WHERE concurrency_key IS NULL
                   AND CASE
                       WHEN :prefixes = '[]' THEN r.type IN (SELECT value FROM json_each(:types))
                       ELSE EXISTS (
                           SELECT 1
                             FROM json_each(:prefixes) AS p
                            WHERE substr(r.type, 1, length(p.value)) = p.value)
                       END
                   AND (:versions = '[]' OR version IN (SELECT value FROM json_each(:versions)))
                 ORDER BY priority DESC, due_at, run_id
                 LIMIT :limit
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("look", MAX_UNKEYED_LOOK)
                .bind("types", Rows.listJson(request.types()))
                .bind("prefixes", Rows.listJson(request.typePrefixes()))
                .bind("versions", Rows.listJson(request.versions()))
                .bind("limit", limit)
                .mapTo(RunId.class)
                .list();
    }

    private void rememberTurn(Handle handle, ClaimRequest request, String key) {
        var sql = """
                UPDATE steadwork.queue_limit
                   SET next_key = :key
                 WHERE shard = :shard
                   AND namespace = :namespace
                   AND queue = :queue
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("key", key)
                .execute();
    }

    private void count(Handle handle, List<RunId> chosen) {
        var sql = """
                UPDATE steadwork.run
                   SET limited = true
                 WHERE shard = :shard
                   AND run_id IN (SELECT value FROM json_each(:runs))
                   AND limited IS NULL
                """;
        if (!chosen.isEmpty()) {
            handle.createUpdate(database.sql(sql))
                    .bind("shard", Shards.ONLY)
                    .bind(
                            "runs",
                            Rows.listJson(chosen.stream().map(RunId::toString).toList()))
                    .execute();
        }
    }

    private void recordStarts(Handle handle, ClaimRequest request, Instant now, int starts, long total) {
        var sql = """
                INSERT INTO steadwork.queue_start (shard, namespace, queue, started_at, total, starts)
                VALUES (:shard, :namespace, :queue, :now, :total, :starts)
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .bind("now", now)
                .bind("total", total)
                .bind("starts", starts)
                .execute();
    }

    private boolean isAnyWaiting(Handle handle, ClaimRequest request) {
        var sql = """
                SELECT EXISTS (
                       SELECT 1
                         FROM steadwork.run
                        WHERE shard = :shard
                          AND namespace = :namespace
                          AND queue = :queue
                          AND status = 'PENDING'
                          AND deleted_at IS NULL)
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", request.namespace())
                .bind("queue", queue(request))
                .mapTo(Boolean.class)
                .one();
    }

    /** Null if the rate is not what holds runs back. */
    private static @Nullable Duration untilNextStart(
            QueueLimit.@Nullable Rate rate, @Nullable Recent recent, int started, Instant now) {
        if (rate == null || recent == null || recent.starts + started < rate.starts()) {
            return null;
        }
        return Duration.between(now, recent.oldest.plus(rate.period()));
    }

    private static String queue(ClaimRequest request) {
        return request.queues().get(0);
    }
}
