package dev.steadwork.benchmarks.measure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The same queue as {@link RawQueue} on SQLite: one connection that claims and completes in batches. */
final class RawSqliteQueue implements Peer {
    private static final int BATCH = Integer.getInteger("raw.batch", 1000);

    @Override
    public void setup() throws SQLException {
        RawSqlite.execute("DROP TABLE IF EXISTS jobs", """
                CREATE TABLE jobs (
                    id         INTEGER PRIMARY KEY,
                    payload    INTEGER NOT NULL,
                    state      INTEGER NOT NULL DEFAULT 0,
                    created_at INTEGER NOT NULL DEFAULT (unixepoch())
                )
                """, "CREATE INDEX jobs_ready ON jobs (id) WHERE state = 0");
    }

    @Override
    public String unfinishedSql() {
        return "SELECT count(*) FROM jobs WHERE state < 2";
    }

    /** One writer, which is all that SQLite has: a commit per single insert, one after the other. */
    @Override
    public Enqueuer enqueuer() throws SQLException {
        var connection = RawSqlite.connect();
        var insert = connection.prepareStatement("INSERT INTO jobs (payload) VALUES (?)");
        return new Enqueuer() {
            @Override
            public synchronized void one(long stamp) throws SQLException {
                insert.setLong(1, stamp);
                insert.executeUpdate();
            }

            @Override
            public boolean many(List<Long> stamps) throws SQLException {
                for (int i = 0; i < stamps.size(); i += 1000) {
                    connection.setAutoCommit(false);
                    for (long stamp : stamps.subList(i, Math.min(stamps.size(), i + 1000))) {
                        insert.setLong(1, stamp);
                        insert.addBatch();
                    }
                    insert.executeBatch();
                    connection.commit();
                    connection.setAutoCommit(true);
                }
                return true;
            }

            @Override
            public void close() throws SQLException {
                connection.close();
            }
        };
    }

    @Override
    public AutoCloseable worker(String mode) {
        var thread = Thread.ofPlatform().start(RawSqliteQueue::work);
        return () -> {
            thread.interrupt();
            thread.join();
        };
    }

    private static void work() {
        try (var connection = RawSqlite.connect()) {
            while (!Thread.interrupted()) {
                if (cycle(connection) == 0) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (SQLException e) {
            e.printStackTrace();
        }
    }

    private static int cycle(Connection connection) throws SQLException {
        var claim = """
                UPDATE jobs
                   SET state = 1
                 WHERE id IN (
                       SELECT id
                         FROM jobs
                        WHERE state = 0
                        ORDER BY id
                        LIMIT ?)
                RETURNING id, payload
                """;
        var ids = new ArrayList<Long>();
        try (var statement = connection.prepareStatement(claim)) {
            statement.setInt(1, BATCH);
            try (var rows = statement.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                    Jobs.ran(rows.getLong(2));
                }
            }
        }
        complete(connection, ids);
        return ids.size();
    }

    private static void complete(Connection connection, List<Long> ids) throws SQLException {
        if (ids.isEmpty()) {
            return;
        }
        connection.setAutoCommit(false);
        try (var statement = connection.prepareStatement("UPDATE jobs SET state = 2 WHERE id = ?")) {
            for (long id : ids) {
                statement.setLong(1, id);
                statement.addBatch();
            }
            statement.executeBatch();
        }
        connection.commit();
        connection.setAutoCommit(true);
    }
}
