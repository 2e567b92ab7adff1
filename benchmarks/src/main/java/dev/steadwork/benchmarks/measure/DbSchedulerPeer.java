package dev.steadwork.benchmarks.measure;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** db-scheduler with lock-and-fetch and the numbers of its own benchmark (docs/performance.md): 20 threads, 4.0, 20.0. */
final class DbSchedulerPeer implements Peer {
    static final int THREADS = Integer.getInteger("dbs.threads", 20);
    static final double LOWER = Double.parseDouble(System.getProperty("dbs.lower", "4.0"));
    static final double UPPER = Double.parseDouble(System.getProperty("dbs.upper", "20.0"));
    static final TaskDescriptor<Long> TASK = TaskDescriptor.of("noop", Long.class);

    @Override
    public void setup() throws Exception {
        Db.execute(
                "drop table if exists scheduled_tasks",
                """
        create table scheduled_tasks (
          task_name text not null, task_instance text not null, task_data bytea,
          execution_time timestamp with time zone not null, picked boolean not null, picked_by text,
          last_success timestamp with time zone, last_failure timestamp with time zone, consecutive_failures int,
          last_heartbeat timestamp with time zone, version bigint not null, priority smallint,
          primary key (task_name, task_instance))""",
                "create index execution_time_idx on scheduled_tasks (execution_time)",
                "create index last_heartbeat_idx on scheduled_tasks (last_heartbeat)");
    }

    @Override
    public String unfinishedSql() {
        return "select count(*) from scheduled_tasks";
    }

    @Override
    public Enqueuer enqueuer() {
        var pool = Db.pool(16);
        var client = SchedulerClient.Builder.create(pool).build();
        return new Enqueuer() {
            @Override
            public void one(long stamp) {
                client.scheduleIfNotExists(
                        TASK.instance(UUID.randomUUID().toString()).data(stamp).scheduledTo(Instant.now()));
            }

            @Override
            public boolean many(List<Long> stamps) {
                Stream<TaskInstance<?>> all = stamps.stream()
                        .map(s -> TASK.instance(UUID.randomUUID().toString())
                                .data(s)
                                .build());
                client.scheduleBatch(all, Instant.now());
                return true;
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    @Override
    public AutoCloseable worker(String mode) {
        var pool = Db.pool(THREADS);
        var task = Tasks.oneTime(TASK).execute((instance, ctx) -> Jobs.ran(instance.getData()));
        var b = Scheduler.create(pool, task).shutdownMaxWait(Duration.ofSeconds(5));
        if (!mode.equals("default")) {
            b.threads(THREADS).pollUsingLockAndFetch(LOWER, UPPER).pollingInterval(Duration.ofMillis(100));
        }
        var s = b.build();
        s.start();
        return () -> {
            s.stop();
            pool.close();
        };
    }
}
