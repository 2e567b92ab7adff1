package dev.steadwork.benchmarks.measure;

import static dev.steadwork.benchmarks.measure.Turn.Phase.COLD;
import static dev.steadwork.benchmarks.measure.Turn.Phase.MEASURE;
import static dev.steadwork.benchmarks.measure.Turn.Phase.WARM_UP;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The physical limit of durable workflows of three steps: every write is durable before the workflow goes on. */
final class RawWorkflows {
    private RawWorkflows() {}

    enum Kind {
        START,
        STEP,
        DONE
    }

    record Write(Kind kind, long workflow, int step, CompletableFuture<Boolean> done) {}

    interface Store extends AutoCloseable {
        void write(Kind kind, long workflow, int step) throws Exception;
    }

    interface Opener {
        Store open() throws Exception;
    }

    /** Steps alone, by how many are in flight and how many connections write them. */
    static void limits() throws Exception {
        for (int concurrent : new int[] {64, 256}) {
            for (int connections : new int[] {16, 64}) {
                var name = "d_commit_each_" + concurrent + "wf_" + connections + "conn";
                measure(name, () -> new CommitEach(connections), concurrent, Scale.SLOW_WORKFLOWS, false, COLD);
            }
            for (int flushers : new int[] {1, 2}) {
                var name = "d_group_commit_" + concurrent + "wf_" + flushers + "conn";
                measure(name, () -> new GroupCommit(flushers), concurrent, Scale.WORKFLOWS, false, COLD);
            }
        }
        measure("d_group_commit_1024wf_2conn", () -> new GroupCommit(2), 1024, Scale.WORKFLOWS, false, COLD);
    }

    /** With a start row and a completion per workflow, as the peers in W4 have; the last in turns with them. */
    static void run() throws Exception {
        int fast = Scale.WORKFLOWS;
        Turn.next(COLD);
        measure("w4_full_commit_each_256wf_16conn", () -> new CommitEach(16), 256, Scale.SLOW_WORKFLOWS, true, COLD);
        measure("w4_full_group_commit_256wf_2conn", () -> new GroupCommit(2), 256, fast / 2, true, COLD);
        Turn.next(WARM_UP);
        measure("w4_full_group_commit_1024wf_2conn", () -> new GroupCommit(2), 1024, fast, true, MEASURE);
    }

    private static void measure(
            String name, Opener opener, int concurrent, int workflows, boolean full, Turn.Phase phase)
            throws Exception {
        Db.execute("DROP TABLE IF EXISTS wf, wf_steps", """
                CREATE TABLE wf (
                    id         BIGINT PRIMARY KEY,
                    status     TEXT NOT NULL,
                    input      TEXT,
                    output     TEXT,
                    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
                    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
                )
                """, """
                CREATE TABLE wf_steps (
                    wf         BIGINT NOT NULL,
                    step       INT NOT NULL,
                    name       TEXT NOT NULL,
                    output     TEXT,
                    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
                    PRIMARY KEY (wf, step)
                )
                """);
        try (var store = opener.open();
                var connection = Db.connect()) {
            var written = new AtomicInteger(warmUp(store, concurrent, workflows, full));
            Passes.Pass pass = () -> runAll(store, written.getAndAdd(workflows), concurrent, workflows, full);
            var passes = Passes.of(phase, pass);
            if (full) {
                Db.reportCost(name + "_", "wf", workflows, pass);
            }
            if (Db.query(connection, "SELECT count(*) FROM wf_steps") != written.get() * 3L) {
                throw new IllegalStateException("steps were lost");
            }
            Output.result(name + "_steps_per_s", workflows * 3 / passes.median());
            if (full) {
                Output.rate(name + "_workflows_per_s", workflows, passes);
            }
        }
    }

    /** What W4 is compared with warms up as long as the others there; the number of workflows. */
    private static int warmUp(Store store, int concurrent, int workflows, boolean full) throws Exception {
        int done = 0;
        long start = System.nanoTime();
        do {
            runAll(store, done, concurrent, workflows / 4, full);
            done += workflows / 4;
        } while (full && Lanes.secondsSince(start) < Scale.WARM_SECONDS);
        return done;
    }

    static double runAll(Store store, long firstId, int concurrent, int workflows, boolean full) throws Exception {
        return Lanes.virtual(concurrent, workflows, i -> {
            if (full) {
                store.write(Kind.START, firstId + i, 0);
            }
            for (int step = 0; step < 3; step++) {
                store.write(Kind.STEP, firstId + i, step);
            }
            if (full) {
                store.write(Kind.DONE, firstId + i, 0);
            }
        });
    }

    /** One transaction for each write, on a pool of connections. */
    private static final class CommitEach implements Store {
        private final ArrayBlockingQueue<List<PreparedStatement>> free;

        CommitEach(int connections) throws SQLException {
            free = new ArrayBlockingQueue<>(connections);
            for (int i = 0; i < connections; i++) {
                var connection = Db.connect();
                free.add(List.of(
                        connection.prepareStatement("INSERT INTO wf (id, status, input) VALUES (?, 'PENDING', '{}')"),
                        connection.prepareStatement(
                                "INSERT INTO wf_steps (wf, step, name, output) VALUES (?, ?, 'step', '{}')"),
                        connection.prepareStatement(
                                "UPDATE wf SET status = 'SUCCESS', output = '{}', updated_at = now() WHERE id = ?")));
            }
        }

        @Override
        public void write(Kind kind, long workflow, int step) throws Exception {
            var all = free.take();
            try {
                var statement = all.get(kind.ordinal());
                statement.setLong(1, workflow);
                if (kind == Kind.STEP) {
                    statement.setInt(2, step);
                }
                statement.executeUpdate();
            } finally {
                free.add(all);
            }
        }

        @Override
        public void close() throws SQLException {
            for (var statements : free) {
                statements.get(0).getConnection().close();
            }
        }
    }

    /** All writes that wait are made in one transaction, of at most three statements, by the next free connection. */
    private static final class GroupCommit implements Store {
        private final LinkedBlockingQueue<Write> waiting = new LinkedBlockingQueue<>();
        private final List<Thread> flushers = new ArrayList<>();

        GroupCommit(int connections) {
            for (int i = 0; i < connections; i++) {
                flushers.add(Thread.ofPlatform().start(this::flush));
            }
        }

        @Override
        public void write(Kind kind, long workflow, int step) {
            var write = new Write(kind, workflow, step, new CompletableFuture<>());
            waiting.add(write);
            write.done().join();
        }

        private void flush() {
            try (var connection = Db.connect()) {
                // The server keeps the plan of the first executions, made while the table was almost empty: a
                // sequential scan.
                try (var statement = connection.createStatement()) {
                    statement.execute("SET enable_seqscan = off");
                }
                connection.setAutoCommit(false);
                flush(connection);
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(1);
            }
        }

        private void flush(Connection connection) throws SQLException, InterruptedException {
            var statements = List.of(
                    connection.prepareStatement(
                            "INSERT INTO wf (id, status, input) SELECT w, 'PENDING', '{}' FROM unnest(?) w"),
                    connection.prepareStatement(
                            "INSERT INTO wf_steps (wf, step, name, output) SELECT w, s, 'step', '{}' FROM unnest(?, ?) AS t (w, s)"),
                    connection.prepareStatement(
                            "UPDATE wf SET status = 'SUCCESS', output = '{}', updated_at = now() WHERE id = ANY(?)"));
            var batch = new ArrayList<Write>();
            while (true) {
                batch.add(waiting.take());
                waiting.drainTo(batch, 2000);
                for (var kind : Kind.values()) {
                    var some =
                            batch.stream().filter(write -> write.kind() == kind).toList();
                    if (!some.isEmpty()) {
                        execute(connection, statements.get(kind.ordinal()), kind, some);
                    }
                }
                connection.commit();
                for (var write : batch) {
                    write.done().complete(true);
                }
                batch.clear();
            }
        }

        private static void execute(Connection connection, PreparedStatement statement, Kind kind, List<Write> writes)
                throws SQLException {
            var workflows = writes.stream().map(Write::workflow).toArray();
            statement.setArray(1, connection.createArrayOf("bigint", workflows));
            if (kind == Kind.STEP) {
                var steps = writes.stream().map(Write::step).toArray();
                statement.setArray(2, connection.createArrayOf("int", steps));
            }
            statement.executeUpdate();
        }

        @Override
        public void close() throws InterruptedException {
            for (var flusher : flushers) {
                flusher.interrupt();
            }
            for (var flusher : flushers) {
                flusher.join();
            }
        }
    }
}
