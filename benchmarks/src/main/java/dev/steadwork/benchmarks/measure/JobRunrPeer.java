package dev.steadwork.benchmarks.measure;

import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.jobrunr.jobs.details.CachingJobDetailsGenerator;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.jackson.JacksonJsonMapper;

/** JobRunr OSS. Five seconds is the smallest poll interval it accepts; with work waiting it refetches at once. */
final class JobRunrPeer implements Peer {
    static final int WORKERS = Integer.getInteger("jr.workers", 128), POOL = Integer.getInteger("jr.pool", 16);

    private static PostgresStorageProvider storage(HikariDataSource pool) {
        var s = new PostgresStorageProvider(pool);
        s.setJobMapper(new JobMapper(new JacksonJsonMapper()));
        return s;
    }

    @Override
    public void setup() {
        try (var pool = Db.pool(2)) {
            storage(pool);
        }
    }

    @Override
    public String unfinishedSql() {
        return "select count(*) from jobrunr_jobs where state in ('ENQUEUED', 'PROCESSING', 'SCHEDULED')";
    }

    @Override
    public Enqueuer enqueuer() {
        var pool = Db.pool(16);
        var scheduler = new JobScheduler(storage(pool), new CachingJobDetailsGenerator(), List.of());
        return new Enqueuer() {
            @Override
            public void one(long stamp) {
                scheduler.enqueue(() -> Jobs.ran(stamp));
            }

            @Override
            public boolean many(List<Long> stamps) {
                scheduler.enqueue(stamps.stream(), stamp -> Jobs.ran(stamp));
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
        var pool = Db.pool(POOL);
        var config = usingStandardBackgroundJobServerConfiguration();
        if (!mode.equals("default")) {
            config.andPollIntervalInSeconds(5).andWorkerCount(WORKERS);
        }
        var server = new BackgroundJobServer(storage(pool), new JacksonJsonMapper(), null, config);
        server.start();
        return () -> {
            server.stop();
            pool.close();
        };
    }
}
