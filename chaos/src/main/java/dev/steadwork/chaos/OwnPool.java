package dev.steadwork.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import javax.sql.DataSource;

/** A worker's own connections, of which the application can take all. */
final class OwnPool implements AutoCloseable {
    private static final int SIZE = 6;

    private final HikariDataSource pool;

    OwnPool(String url) {
        var settings = new HikariConfig();
        settings.setJdbcUrl(url);
        settings.setMaximumPoolSize(SIZE);
        settings.setConnectionTimeout(1_000);
        settings.setInitializationFailTimeout(-1);
        settings.addDataSourceProperty("socketTimeout", "30");
        this.pool = new HikariDataSource(settings);
    }

    DataSource dataSource() {
        return pool;
    }

    /** Takes what it can get and keeps it for that long. */
    void exhaust(Duration time) {
        long until = System.nanoTime() + time.toNanos();
        var held = new ArrayList<Connection>();
        try {
            while (System.nanoTime() < until) {
                try {
                    held.add(pool.getConnection());
                } catch (SQLException noneLeft) {
                    // tried again until the time is over
                }
            }
        } finally {
            held.forEach(OwnPool::giveBack);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException broken) {
            // the pool opens another one
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
