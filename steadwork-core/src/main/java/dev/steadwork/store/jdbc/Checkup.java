package dev.steadwork.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.Finding;
import dev.steadwork.QueueStats;
import dev.steadwork.RunId;
import dev.steadwork.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;

/** Looks at everything that may be wrong; what cannot be looked at is told and keeps nothing else from being looked at. */
final class Checkup {
    /** Workers look at their queues at least this often, by far. */
    private static final Duration LATE = Duration.ofMinutes(1);

    private static final Duration CLOCK_WARN = Duration.ofSeconds(1);
    private static final Duration CLOCK_BAD = Duration.ofMinutes(5);

    private final Database database;
    private final Migrations migrations;
    private final QueueCounts queueCounts;
    private final WaitingRuns waitingRuns;

    Checkup(Database database, Migrations migrations, QueueCounts queueCounts, WaitingRuns waitingRuns) {
        this.database = database;
        this.migrations = migrations;
        this.queueCounts = queueCounts;
        this.waitingRuns = waitingRuns;
    }

    /** @param more what only this kind of database has, by name */
    List<Finding> examine(String namespace, Map<String, Probe> more) {
        var probes = new LinkedHashMap<String, Probe>();
        probes.put("schema version", this::schemaVersion);
        probes.put("clock", this::clock);
        probes.put("connection pool", this::pool);
        probes.put("late timers", check -> lateTimers(check, namespace));
        probes.put("stuck queues", check -> stuckQueues(check, namespace));
        probes.putAll(more);
        var findings = new ArrayList<Finding>();
        probes.forEach((check, probe) -> findings.addAll(look(check, probe)));
        return List.copyOf(findings);
    }

    private static List<Finding> look(String check, Probe probe) {
        try {
            return probe.look(check);
        } catch (RuntimeException failure) {
            return List.of(
                    Finding.unknown(
                            check,
                            "Could not be looked at: " + failure.getMessage(),
                            "If the user of the database lacks a right, grant it (on Postgres: pg_monitor), or leave this check out."));
        }
    }

    private List<Finding> schemaVersion(String check) {
        int current = migrations.current();
        int latest = migrations.latest();
        if (current == latest) {
            return List.of(Finding.ok(check, "The schema has version %d, as it should.".formatted(current)));
        }
        return List.of(Finding.bad(
                check,
                "The schema has version %d, this version of the library needs %d.".formatted(current, latest),
                current < latest ? "Open once with migrate(true)." : "Upgrade the library in this process."));
    }

    /** The database's clock decides everything; that of a process orders ids and dates log lines. */
    private List<Finding> clock(String check) {
        database.read(database::now); // the one that is measured does not wait for a connection
        var before = Instant.now();
        var theirs = database.read(database::now);
        var after = Instant.now();
        var trip = Duration.between(before, after);
        var apart = Duration.between(before.plus(trip.dividedBy(2)), theirs).abs();
        var seen = "The clocks of this process and of the database are %d ms apart, give or take %d ms."
                .formatted(apart.toMillis(), trip.toMillis() / 2 + 1);
        var sure = apart.minus(trip);
        var advice =
                "Let both machines take their time from NTP. No run is harmed, but ids and log lines are out of order.";
        if (sure.compareTo(CLOCK_BAD) > 0) {
            return List.of(Finding.bad(check, seen, advice));
        }
        return List.of(sure.compareTo(CLOCK_WARN) > 0 ? Finding.warn(check, seen, advice) : Finding.ok(check, seen));
    }

    private List<Finding> pool(String check) {
        if (!(dataSource().orElse(null) instanceof HikariDataSource hikari)) {
            return List.of(Finding.unknown(
                    check,
                    "The connections do not come from a HikariCP pool, so their use is not known.",
                    "Look at the numbers of the application's own pool."));
        }
        var pool = hikari.getHikariPoolMXBean();
        if (pool == null) {
            return List.of(Finding.ok(check, "No connection has been needed yet."));
        }
        int most = hikari.getMaximumPoolSize();
        var seen = "%d of at most %d connections are in use, %d threads wait for one."
                .formatted(pool.getActiveConnections(), most, pool.getThreadsAwaitingConnection());
        if (pool.getThreadsAwaitingConnection() == 0) {
            return List.of(Finding.ok(check, seen));
        }
        return List.of(
                Finding.warn(
                        check,
                        seen,
                        "Look again: once is nothing. If it stays, raise poolSize, or look for transactional steps that take long."));
    }

    /** None for a database in memory. */
    private Optional<DataSource> dataSource() {
        try {
            return Optional.of(database.dataSource());
        } catch (IllegalStateException inMemory) {
            return Optional.empty();
        }
    }

    private List<Finding> lateTimers(String check, String namespace) {
        var late = new ArrayList<Finding>();
        for (var queue : queueCounts.stats(namespace)) {
            if (queue.running() + queue.sleeping() > 0) {
                database.read(handle -> late(handle, namespace, queue.queue()))
                        .map(seen -> Finding.bad(
                                check,
                                seen,
                                "Start a worker that reads queue %s, or find out why those there are do not reach the database."
                                        .formatted(queue.queue())))
                        .ifPresent(late::add);
            }
        }
        return late.isEmpty()
                ? List.of(Finding.ok(check, "No lease and no timer has been over for longer than %s.".formatted(LATE)))
                : late;
    }

    private Optional<String> late(Handle handle, String namespace, String queue) {
        var sql = """
                SELECT sum(CASE WHEN late.status = 'RUNNING' THEN 1 ELSE 0 END) AS leases,
                       count(*) AS timers,
                       min(late.due_at) AS oldest
                  FROM (SELECT status, due_at
                          FROM steadwork.run
                         WHERE shard = :shard
                           AND namespace = :namespace
                           AND queue = :queue
                           AND status IN ('SLEEPING', 'RUNNING')
                           AND deleted_at IS NULL
                           AND due_at < :before
                         ORDER BY due_at
                         LIMIT :limit) AS late
                HAVING count(*) > 0
                """;
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .bind("before", database.now(handle).minus(LATE))
                .bind("limit", QueueStats.COUNTED)
                .map(row ->
                        "Queue %s has %d timers that nobody heeded, the oldest since %s; %d of them are leases of workers that fell silent."
                                .formatted(
                                        queue,
                                        row.getColumn("timers", Long.class),
                                        row.getColumn("oldest", Instant.class),
                                        row.getColumn("leases", Long.class)))
                .findOne();
    }

    private List<Finding> stuckQueues(String check, String namespace) {
        var stuck = new ArrayList<Finding>();
        for (var queue : queueCounts.stats(namespace)) {
            var age = queue.oldestReady();
            if (age != null && age.compareTo(LATE) > 0) {
                database.read(handle -> first(handle, namespace, queue.queue()))
                        .map(waitingRuns::of)
                        .map(waiting -> stuck(check, queue, age, waiting))
                        .ifPresent(stuck::add);
            }
        }
        return stuck.isEmpty()
                ? List.of(Finding.ok(check, "No run has been ready for longer than %s.".formatted(LATE)))
                : stuck;
    }

    private static Finding stuck(String check, QueueStats queue, Duration age, Waiting waiting) {
        var seen = "Queue %s: %s%d runs are ready, the oldest for %s."
                .formatted(queue.queue(), queue.atLeast() ? "at least " : "", queue.ready(), age.withNanos(0));
        var advice = "The first one: " + waiting.sentence();
        return waiting.reason() == Waiting.Reason.NO_WORKER
                ? Finding.bad(check, seen, advice)
                : Finding.warn(check, seen, advice);
    }

    private Optional<RunId> first(Handle handle, String namespace, String queue) {
        return handle.createQuery(database.sql(database.dialect().queues().selectFirst()))
                .bind("shard", Shards.ONLY)
                .bind("namespace", namespace)
                .bind("queue", queue)
                .mapTo(RunId.class)
                .findOne();
    }
}
