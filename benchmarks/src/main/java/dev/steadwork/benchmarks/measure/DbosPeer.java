package dev.steadwork.benchmarks.measure;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.DBOSClient;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Queue;
import dev.dbos.transact.workflow.Workflow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** DBOS Transact for Java: jobs are workflows without steps on a queue. */
final class DbosPeer implements Peer {
    static final int POOL = Integer.getInteger("dbos.pool", 16), WORKERS = Integer.getInteger("dbos.workers", 100);
    static final Duration POLL = Duration.ofMillis(Integer.getInteger("dbos.poll", 10));
    static final int IN_FLIGHT = Integer.getInteger("dbos.inflight", 256);

    public interface Flows {
        void noop(long stamp);

        int three(int i);
    }

    public static final class ThreeSteps implements Flows {
        private final DBOS dbos;

        ThreeSteps(DBOS dbos) {
            this.dbos = dbos;
        }

        @Override
        @Workflow(name = "noop")
        public void noop(long stamp) {
            Jobs.ran(stamp);
        }

        @Override
        @Workflow(name = "three")
        public int three(int i) {
            int a = dbos.runStep(() -> i + 1, "one");
            int b = dbos.runStep(() -> a + 1, "two");
            int c = dbos.runStep(() -> b + 1, "three");
            Jobs.ran(0);
            return c;
        }
    }

    private record Launched(DBOS dbos, Flows flows) {}

    private static Launched launch(javax.sql.DataSource pool, @Nullable Queue queue) {
        var dbos = new DBOS(DBOSConfig.defaults("bench").withDataSource(pool).withAppVersion("1"));
        var flows = dbos.registerProxy(Flows.class, new ThreeSteps(dbos));
        if (queue != null) {
            dbos.registerQueue(queue);
        }
        dbos.launch();
        return new Launched(dbos, flows);
    }

    @Override
    public void setup() {
        try (var pool = Db.pool(2)) {
            launch(pool, null).dbos().close(); // launching creates the tables
        }
    }

    @Override
    public String unfinishedSql() {
        return "select count(*) from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')";
    }

    @Override
    public Enqueuer enqueuer() {
        var pool = Db.pool(16);
        var client = new DBOSClient(pool);
        var options = new DBOSClient.EnqueueOptions("noop", ThreeSteps.class.getName(), "q");
        return new Enqueuer() {
            @Override
            public void one(long stamp) {
                client.enqueueWorkflow(options, new Object[] {stamp});
            }

            @Override
            public void close() {
                client.close();
                pool.close();
            }
        };
    }

    @Override
    public AutoCloseable worker(String mode) {
        var pool = Db.pool(POOL);
        var queue = new Queue("q");
        if (mode.equals("drain")) {
            queue = queue.withWorkerConcurrency(WORKERS).withPollingInterval(POLL);
        }
        if (mode.equals("low")) {
            queue = queue.withPollingInterval(Duration.ofMillis(100));
        }
        var dbos = launch(pool, queue).dbos();
        return () -> {
            dbos.close();
            pool.close();
        };
    }

    /** W4: started directly in the process, and through a queue. */
    static void workflows() throws Exception {
        int n = Scale.SLOW_WORKFLOWS;
        Turn.next(Turn.Phase.COLD);
        var queue = new Queue("q").withWorkerConcurrency(WORKERS).withPollingInterval(POLL);
        try (var pool = Db.pool(POOL);
                var connection = Db.connect()) {
            var launched = launch(pool, queue);
            try (var dbos = launched.dbos()) {
                Output.result("w4_cold_workflows_per_s", n / 2 / direct(launched, n / 2));
                Turn.next(Turn.Phase.WARM_UP);
                long start = System.nanoTime();
                while (Lanes.secondsSince(start) < Scale.WARM_SECONDS) {
                    direct(launched, n / 2);
                }
                var passes = Passes.of(Turn.Phase.MEASURE, () -> direct(launched, n));
                Output.rate("w4_direct_workflows_per_s", n, passes);
                Output.result("w4_direct_steps_per_s", 3 * n / passes.median());
                Turn.next(Turn.Phase.REST);
                Db.reportCost("w4_direct_", "wf", n, () -> direct(launched, n));
                queued(launched, queue, connection, n / 2);
                double seconds = queued(launched, queue, connection, n);
                Output.result("w4_queued_workflows_per_s", n / seconds);
                Output.result("w4_queued_steps_per_s", 3 * n / seconds);
            }
        }
    }

    private static double direct(Launched launched, int n) throws Exception {
        return Lanes.virtual(
                IN_FLIGHT,
                n,
                i -> launched.dbos()
                        .startWorkflow(() -> launched.flows().three(i))
                        .getResult());
    }

    private static double queued(Launched launched, Queue queue, java.sql.Connection connection, int n)
            throws Exception {
        Jobs.reset();
        long start = System.nanoTime();
        Lanes.threads(
                16,
                n,
                i -> launched.dbos().startWorkflow(() -> launched.flows().three(i), new StartWorkflowOptions(queue)));
        Jobs.awaitCount(n, 300);
        while (Db.query(connection, "SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')")
                > 0) {
            Thread.sleep(10);
        }
        return Lanes.secondsSince(start);
    }
}
