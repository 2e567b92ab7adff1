package dev.steadwork.benchmarks.measure;

import dev.steadwork.benchmarks.measure.RawWorkflows.Kind;
import dev.steadwork.benchmarks.measure.RawWorkflows.Store;
import dev.steadwork.benchmarks.measure.RawWorkflows.Write;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** The group commit of {@link RawWorkflows} on SQLite, with its one writer. */
final class RawSqliteWorkflows {
    private RawSqliteWorkflows() {}

    static void run() throws Exception {
        RawSqlite.execute("""
                CREATE TABLE wf (
                    id         INTEGER PRIMARY KEY,
                    status     TEXT NOT NULL,
                    input      TEXT,
                    output     TEXT,
                    created_at INTEGER NOT NULL DEFAULT (unixepoch()),
                    updated_at INTEGER NOT NULL DEFAULT (unixepoch())
                )
                """, """
                CREATE TABLE wf_steps (
                    wf         INTEGER NOT NULL,
                    step       INTEGER NOT NULL,
                    name       TEXT NOT NULL,
                    output     TEXT,
                    created_at INTEGER NOT NULL DEFAULT (unixepoch()),
                    PRIMARY KEY (wf, step)
                )
                """);
        int n = Scale.WORKFLOWS;
        try (var store = new OneWriter()) {
            long id = 0;
            long start = System.nanoTime();
            while (Lanes.secondsSince(start) < Scale.WARM_SECONDS) {
                RawWorkflows.runAll(store, id, Scale.IN_FLIGHT, n, true);
                id += n;
            }
            double seconds = RawWorkflows.runAll(store, id, Scale.IN_FLIGHT, n, true);
            Output.result("w4_direct_workflows_per_s", n / seconds);
        }
    }

    private static final class OneWriter implements Store {
        private final LinkedBlockingQueue<Write> waiting = new LinkedBlockingQueue<>();
        private final Thread writer = Thread.ofPlatform().start(this::flush);

        @Override
        public void write(Kind kind, long workflow, int step) {
            var write = new Write(kind, workflow, step, new CompletableFuture<>());
            waiting.add(write);
            write.done().join();
        }

        private void flush() {
            try (var connection = RawSqlite.connect()) {
                connection.setAutoCommit(false);
                flush(connection);
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            } catch (SQLException e) {
                e.printStackTrace();
                System.exit(1);
            }
        }

        private void flush(Connection connection) throws SQLException, InterruptedException {
            var statements = List.of(
                    connection.prepareStatement("INSERT INTO wf (id, status, input) VALUES (?, 'PENDING', '{}')"),
                    connection.prepareStatement(
                            "INSERT INTO wf_steps (wf, step, name, output) VALUES (?, ?, 'step', '{}')"),
                    connection.prepareStatement(
                            "UPDATE wf SET status = 'SUCCESS', output = '{}', updated_at = unixepoch() WHERE id = ?"));
            var batch = new ArrayList<Write>();
            while (true) {
                batch.add(waiting.take());
                waiting.drainTo(batch, 2000);
                for (var write : batch) {
                    add(statements.get(write.kind().ordinal()), write);
                }
                for (var statement : statements) {
                    statement.executeBatch();
                }
                connection.commit();
                for (var write : batch) {
                    write.done().complete(true);
                }
                batch.clear();
            }
        }

        private static void add(PreparedStatement statement, Write write) throws SQLException {
            statement.setLong(1, write.workflow());
            if (write.kind() == Kind.STEP) {
                statement.setInt(2, write.step());
            }
            statement.addBatch();
        }

        @Override
        public void close() throws InterruptedException {
            writer.interrupt();
            writer.join();
        }
    }
}
