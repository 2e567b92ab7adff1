package dev.steadwork.benchmarks.measure;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Steadwork. Every setting is the default one, except how many runs a worker executes at once (1,024; default 100). */
final class SteadworkPeer implements Peer {
    static final int CONCURRENCY = Integer.getInteger("steadwork.concurrency", 1024);
    private static final int BATCH = Integer.getInteger("steadwork.batch", 1000);

    static final Workflow<Long, Long> NOOP = Workflow.define("noop", Long.class, Long.class);

    private volatile Instant enqueuedSince = Instant.EPOCH;

    static Steadwork open() {
        return builder().open();
    }

    static Steadwork.Builder builder() {
        var builder = Steadwork.builder().url(Db.URL);
        return Db.isSqlite() ? builder : builder.user(Db.USER).password("");
    }

    @Override
    public void setup() {
        try (var steadwork = open()) {
            steadwork.register(NOOP);
        }
    }

    /** Of those that were enqueued last, so that it costs the same however many have ended or sleep. Ids begin with the time. */
    @Override
    public String unfinishedSql() {
        if (Db.isSqlite()) {
            return """
                    SELECT (SELECT count(*)
                              FROM steadwork_run
                             WHERE shard = 0
                               AND namespace = 'default'
                               AND queue = 'noop'
                               AND status = 'PENDING'
                               AND deleted_at IS NULL)
                         + (SELECT count(*)
                              FROM steadwork_run
                             WHERE shard = 0
                               AND namespace = 'default'
                               AND queue = 'noop'
                               AND status IN ('SLEEPING', 'RUNNING')
                               AND deleted_at IS NULL)
                    """;
        }
        return """
                SELECT count(*)
                  FROM steadwork.run
                 WHERE shard = 0
                   AND run_id >= '%s'
                   AND status IN ('PENDING', 'SLEEPING', 'RUNNING')
                """.formatted(new UUID(enqueuedSince.toEpochMilli() << 16, 0));
    }

    @Override
    public Enqueuer enqueuer() {
        enqueuedSince = Instant.now();
        var steadwork = open();
        var noop = steadwork.workflow(NOOP);
        return new Enqueuer() {
            @Override
            public void one(long stamp) {
                noop.trigger(stamp);
            }

            @Override
            public boolean many(List<Long> stamps) {
                for (int i = 0; i < stamps.size(); i += BATCH) {
                    noop.triggerAll(stamps.subList(i, Math.min(stamps.size(), i + BATCH)));
                }
                return true;
            }

            @Override
            public void close() {
                steadwork.close();
            }
        };
    }

    @Override
    public AutoCloseable worker(String mode) {
        var steadwork = open();
        var worker = steadwork.worker().handle(NOOP, (ctx, stamp) -> {
            Jobs.ran(stamp);
            return stamp;
        });
        if (!mode.equals("default")) {
            worker.concurrency(CONCURRENCY);
        }
        worker.start();
        return steadwork;
    }

    /** Copies of one run that was executed and of one that was delayed, each with an id of its own. */
    @Override
    public void fill(long finished, long sleeping) throws SQLException {
        String ended;
        String asleep;
        try (var steadwork = open()) {
            steadwork
                    .worker()
                    .handle(NOOP, (ctx, stamp) -> {
                        Jobs.ran(stamp);
                        return stamp;
                    })
                    .start();
            var run = steadwork.workflow(NOOP).trigger(0L);
            run.await(Duration.ofMinutes(1));
            ended = run.id().toString();
            asleep = steadwork
                    .workflow(NOOP)
                    .delay(Duration.ofDays(30))
                    .trigger(0L)
                    .id()
                    .toString();
        }
        copy(ended, finished);
        copy(asleep, sleeping);
        Db.execute("VACUUM (ANALYZE) steadwork.run");
    }

    /** The columns are asked for, so that a schema with more of them is filled as well. */
    private static void copy(String runId, long times) throws SQLException {
        var columns = new StringBuilder();
        try (var connection = Db.connect();
                var rows = connection.createStatement().executeQuery("""
                                SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
                                  FROM information_schema.columns
                                 WHERE table_schema = 'steadwork'
                                   AND table_name = 'run'
                                   AND column_name NOT IN ('run_id', 'created_at', 'due_at')
                                """)) {
            rows.next();
            columns.append(rows.getString(1));
        }
        // A UUIDv7 each, one millisecond older than the one before it, ending in any of the 1,024 slots.
        Db.execute("""
                INSERT INTO steadwork.run (run_id, created_at, due_at, COLUMNS)
                SELECT (lpad(to_hex((extract(epoch FROM created_at) * 1000)::bigint - n), 12, '0')
                         || '7' || substr(md5(n::text), 1, 3)
                         || '8' || substr(md5(n::text), 4, 15))::uuid,
                       created_at - n * interval '1 millisecond',
                       due_at + n * interval '1 second',
                       COLUMNS
                  FROM steadwork.run, generate_series(1, TIMES) AS n
                 WHERE run_id = 'RUN'
                """.replace("COLUMNS", columns)
                .replace("TIMES", Long.toString(times))
                .replace("RUN", runId));
    }
}
