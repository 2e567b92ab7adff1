package dev.steadwork.benchmarks.measure;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;

/**
 * The physical limit of a Postgres queue: one table, one partial index, claim by SKIP LOCKED and complete by UPDATE,
 * both in batches. No retries, leases, priorities or history: nothing that a usable engine needs.
 */
final class RawQueue implements Peer {
    private static final int THREADS = Integer.getInteger("raw.threads", 2);
    private static final int BATCH = Integer.getInteger("raw.batch", 1000);

    static final String CLAIM = """
            UPDATE jobs
               SET state = 1
             WHERE id IN (
                   SELECT id
                     FROM jobs
                    WHERE state = 0
                    ORDER BY id
                    LIMIT ?
                      FOR UPDATE SKIP LOCKED)
            RETURNING id, payload
            """;
    static final String COMPLETE = "UPDATE jobs SET state = 2 WHERE id = ANY(?)";
    static final String DELETE = "DELETE FROM jobs WHERE id = ANY(?)";

    @Override
    public void setup() throws SQLException {
        if (Boolean.getBoolean("prepared")) {
            return;
        }
        Db.execute("DROP TABLE IF EXISTS jobs", """
                CREATE TABLE jobs (
                    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    payload    BIGINT NOT NULL,
                    state      SMALLINT NOT NULL DEFAULT 0,
                    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
                )
                """, "CREATE INDEX jobs_ready ON jobs (id) WHERE state = 0");
    }

    @Override
    public void fill(long finished, long sleeping) throws SQLException {
        Db.execute(
                "INSERT INTO jobs (payload, state) SELECT 0, 2 FROM generate_series(1, %d)".formatted(finished),
                "INSERT INTO jobs (payload, state) SELECT 0, 3 FROM generate_series(1, %d)".formatted(sleeping),
                "VACUUM (ANALYZE) jobs");
    }

    /** Among the last, so that it costs the same however many have ended. */
    @Override
    public String unfinishedSql() {
        return """
                SELECT count(*)
                  FROM jobs
                 WHERE state < 2
                   AND id > (SELECT max(id) FROM jobs) - 100000
                """;
    }

    @Override
    public boolean bearsManyCallers() {
        return false;
    }

    @Override
    public Enqueuer enqueuer() {
        return new RawEnqueuer();
    }

    /** As many connections as there are callers at once; threads come and go. */
    private static final class RawEnqueuer implements Enqueuer {
        private record Inserts(Connection connection, PreparedStatement plain, PreparedStatement notifying) {}

        private final ConcurrentLinkedQueue<Inserts> idle = new ConcurrentLinkedQueue<>();

        private static Inserts prepare() throws SQLException {
            var connection = Db.connect();
            var notifying = """
                    WITH j AS (
                        INSERT INTO jobs (payload)
                        VALUES (?)
                        RETURNING id)
                    SELECT pg_notify('jobs', '') FROM j
                    """;
            return new Inserts(
                    connection,
                    connection.prepareStatement("INSERT INTO jobs (payload) VALUES (?)"),
                    connection.prepareStatement(notifying));
        }

        /** Only the latency test wakes the worker by NOTIFY. */
        @Override
        public void one(long stamp) throws SQLException {
            var mine = idle.poll();
            if (mine == null) {
                mine = prepare();
            }
            var insert = stamp == 0 ? mine.plain() : mine.notifying();
            insert.setLong(1, stamp);
            insert.execute();
            idle.add(mine);
        }

        @Override
        public boolean many(List<Long> stamps) throws SQLException {
            try (var connection = Db.connect()) {
                for (int i = 0; i < stamps.size(); i += 1000) {
                    insert(connection, stamps.subList(i, Math.min(stamps.size(), i + 1000)));
                }
            }
            return true;
        }

        @Override
        public void close() throws SQLException {
            for (var inserts : idle) {
                inserts.connection().close();
            }
        }
    }

    static void insert(Connection connection, List<Long> payloads) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO jobs (payload) SELECT * FROM unnest(?)")) {
            insert.setArray(1, connection.createArrayOf("bigint", payloads.toArray()));
            insert.execute();
        }
    }

    /** One claim and one completion on that connection; the number of jobs. */
    static int cycle(Connection connection, PreparedStatement claim, PreparedStatement complete, int batch)
            throws SQLException {
        claim.setInt(1, batch);
        var ids = new ArrayList<Long>();
        try (var rows = claim.executeQuery()) {
            while (rows.next()) {
                ids.add(rows.getLong(1));
                Jobs.ran(rows.getLong(2));
            }
        }
        if (!ids.isEmpty()) {
            complete.setArray(1, connection.createArrayOf("bigint", ids.toArray()));
            complete.executeUpdate();
        }
        return ids.size();
    }

    @Override
    public AutoCloseable worker(String mode) {
        boolean drain = mode.equals("drain");
        var wake = new Semaphore(0);
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < (drain ? THREADS : 4); i++) {
            threads.add(Thread.ofPlatform().start(() -> work(wake, drain ? BATCH : 20)));
        }
        threads.add(Thread.ofPlatform().start(() -> listen(wake)));
        return () -> {
            for (var thread : threads) {
                thread.interrupt();
            }
            for (var thread : threads) {
                thread.join();
            }
        };
    }

    private static void work(Semaphore wake, int batch) {
        try (var connection = Db.connect();
                var claim = connection.prepareStatement(CLAIM);
                var complete = connection.prepareStatement(COMPLETE)) {
            while (!Thread.interrupted()) {
                if (cycle(connection, claim, complete, batch) == 0) {
                    wake.tryAcquire(1, TimeUnit.SECONDS);
                }
            }
        } catch (InterruptedException | SQLException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private static void listen(Semaphore wake) {
        try (var connection = Db.connect();
                var statement = connection.createStatement()) {
            statement.execute("LISTEN jobs");
            while (!Thread.interrupted()) {
                var got = connection.unwrap(PGConnection.class).getNotifications(500);
                if (got != null && got.length > 0) {
                    wake.release(Math.min(got.length, 4));
                }
            }
        } catch (SQLException closed) {
            Thread.currentThread().interrupt();
        }
    }
}
