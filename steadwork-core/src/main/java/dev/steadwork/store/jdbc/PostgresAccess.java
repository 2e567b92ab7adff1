package dev.steadwork.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** Connections to Postgres: from a pool of our own, or from the application's. */
final class PostgresAccess implements Access {
    private static final int DEADLOCK_RETRIES = 5;
    /** More are opened when they are needed. */
    private static final int KEPT_OPEN = 2;

    private static final long RETRY_WITHIN_NANOS = 20_000_000;

    private final DataSource dataSource;
    private final @Nullable HikariDataSource ownPool;
    private final Jdbi jdbi;

    private PostgresAccess(DataSource dataSource, @Nullable HikariDataSource ownPool, Dialect dialect) {
        this.dataSource = dataSource;
        this.ownPool = ownPool;
        this.jdbi = Jdbi.create(dataSource);
        dialect.configure(jdbi);
    }

    static PostgresAccess pool(String url, StoreConfig config, Dialect dialect) {
        var pool = new HikariDataSource(settings(url, config));
        return new PostgresAccess(pool, pool, dialect);
    }

    static PostgresAccess of(DataSource dataSource, Dialect dialect) {
        return new PostgresAccess(dataSource, null, dialect);
    }

    /** Properties are defaults: what the URL itself says wins. */
    private static HikariConfig settings(String url, StoreConfig config) {
        var settings = new HikariConfig();
        settings.setPoolName("steadwork");
        settings.setJdbcUrl(url);
        if (config.user() != null) {
            settings.setUsername(config.user());
        }
        if (config.password() != null) {
            settings.setPassword(config.password());
        }
        settings.setMaximumPoolSize(config.poolSize());
        settings.setMinimumIdle(Math.min(KEPT_OPEN, config.poolSize()));
        settings.setConnectionTimeout(10_000);
        // A database that is down is reported by the first call, in our words.
        settings.setInitializationFailTimeout(-1);
        settings.addDataSourceProperty("ApplicationName", "steadwork");
        settings.addDataSourceProperty("tcpKeepAlive", "true");
        settings.addDataSourceProperty("socketTimeout", "60");
        if (config.listen()) {
            settings.addDataSourceProperty("options", "-c jit=off");
        } else {
            // PgBouncer in transaction mode: no session state, which prepared statements are, and no start-up options.
            settings.addDataSourceProperty("prepareThreshold", "0");
        }
        return settings;
    }

    @Override
    public DataSource dataSource() {
        return dataSource;
    }

    @Override
    public Jdbi jdbi() {
        return jdbi;
    }

    @Override
    public <T> T read(HandleCallback<T, RuntimeException> work) {
        return jdbi.withHandle(work);
    }

    @Override
    public <T> T inTransaction(HandleCallback<T, RuntimeException> work) {
        for (int retry = 0; ; retry++) {
            try {
                return jdbi.inTransaction(work);
            } catch (RuntimeException e) {
                if (retry == DEADLOCK_RETRIES || !SqlErrors.isDeadlock(SqlErrors.sqlException(e))) {
                    throw e;
                }
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(RETRY_WITHIN_NANOS));
            }
        }
    }

    @Override
    public void close() {
        if (ownPool != null) {
            ownPool.close();
        }
    }
}
