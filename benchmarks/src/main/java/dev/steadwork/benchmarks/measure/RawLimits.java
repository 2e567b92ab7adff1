package dev.steadwork.benchmarks.measure;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.util.Collections;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What Postgres on this machine can do at most, from plain JDBC, and the disk under it. */
final class RawLimits {
    private static final RawQueue QUEUE = new RawQueue();
    private static final double SHARE = Math.min(1, Scale.RUNS / 20_000.0);

    private RawLimits() {}

    static void run() throws Exception {
        syncs();
        QUEUE.setup();
        inserts();
        for (int batch : new int[] {100, 1000}) {
            for (int connections : new int[] {1, 4}) {
                QUEUE.setup();
                batches(batch, connections, scaled(40_000));
                QUEUE.setup();
                int rows = scaled(200_000);
                Output.result(
                        "b_insert_batch" + batch + "_" + connections + "conn_rows_per_s",
                        rows / batches(batch, connections, rows));
            }
        }
        for (int batch : new int[] {1, 10, 100, 1000}) {
            for (int threads : new int[] {1, 4, 16}) {
                int n = scaled(batch == 1 ? (threads == 1 ? 3000 : 10_000) : batch == 10 ? 20_000 : 60_000);
                Output.result(
                        "c_queue_batch" + batch + "_" + threads + "thr_jobs_per_s",
                        n / queue(RawQueue.COMPLETE, batch, threads, n));
            }
        }
        int n = scaled(60_000);
        Output.result("c_queue_delete_batch1000_4thr_jobs_per_s", n / queue(RawQueue.DELETE, 1000, 4, n));
        RawWorkflows.limits();
    }

    private static int scaled(int n) {
        return Math.max(1000, (int) (n * SHARE) / 1000 * 1000);
    }

    /** Pages written and forced to the disk, one after the other, for two seconds. */
    private static void syncs() throws IOException {
        var file = Files.createTempFile(Path.of(System.getProperty("work", ".")), "sync", ".tmp");
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            var page = ByteBuffer.allocate(8192);
            int n = 0;
            long start = System.nanoTime();
            while (Lanes.secondsSince(start) < 2) {
                channel.write(page.rewind(), 0);
                channel.force(false);
                n++;
            }
            Output.result("e_fdatasync_per_s", n / Lanes.secondsSince(start));
        } finally {
            Files.delete(file);
        }
    }

    private static void inserts() throws Exception {
        inserts(1, scaled(2000), 0);
        inserts(16, scaled(8000), 0);
        int one = scaled(3000);
        Output.result("a_insert_commit_1conn_per_s", one / inserts(1, one, 0));
        int many = scaled(20_000);
        Output.result("a_insert_commit_16conn_per_s", many / inserts(16, many, 0));
        int notifying = scaled(5000);
        Output.result("a_insert_commit_notify_16conn_per_s", notifying / inserts(16, notifying, 1));
    }

    private static double inserts(int connections, int n, long stamp) throws Exception {
        try (var enqueuer = QUEUE.enqueuer()) {
            return Lanes.threads(connections, n, i -> enqueuer.one(stamp));
        }
    }

    private static double batches(int batch, int connections, int rows) throws Exception {
        var payloads = Collections.nCopies(batch, 1L);
        try (var pool = Db.pool(connections)) {
            return Lanes.threads(connections, rows / batch, i -> {
                try (var connection = pool.getConnection()) {
                    RawQueue.insert(connection, payloads);
                }
            });
        }
    }

    private static double queue(String complete, int batch, int threads, int n) throws Exception {
        QUEUE.setup();
        batches(1000, 1, n);
        var left = new AtomicInteger(n);
        var connections = new ArrayBlockingQueue<Connection>(threads);
        for (int i = 0; i < threads; i++) {
            connections.add(Db.connect());
        }
        double seconds = Lanes.threads(threads, threads, i -> {
            var connection = connections.take();
            try (var claim = connection.prepareStatement(RawQueue.CLAIM);
                    var completion = connection.prepareStatement(complete)) {
                while (left.get() > 0) {
                    left.addAndGet(-RawQueue.cycle(connection, claim, completion, batch));
                }
            }
            connections.add(connection);
        });
        for (var connection : connections) {
            connection.close();
        }
        return seconds;
    }
}
