package dev.steadwork.store.jdbc;

import dev.steadwork.store.Signals;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears what other processes tell, on one connection that it keeps. Whenever it begins to hear, also after it was cut off,
 * it says that hints may have been lost, so that everyone looks.
 */
final class NotificationListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NotificationListener.class);
    private static final int CHECK_EVERY_MILLIS = 30_000;
    private static final int CHECK_WITHIN_SECONDS = 5;
    private static final long FIRST_PAUSE_MILLIS = 1_000;
    private static final long LONGEST_PAUSE_MILLIS = 30_000;

    private final StoreConfig config;
    private final Notifications notifications;
    private final Signals signals;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable Connection kept;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    private NotificationListener(StoreConfig config, Notifications notifications, Signals signals) {
        this.config = config;
        this.notifications = notifications;
        this.signals = signals;
    }

    static NotificationListener start(StoreConfig config, Notifications notifications, Signals signals) {
        var listener = new NotificationListener(config, notifications, signals);
        var thread = new Thread(listener::run, "steadwork-listener");
        thread.setDaemon(true);
        thread.start();
        return listener;
    }

    private void run() {
        try {
            while (listen() && !closed.await(pauseMillis, TimeUnit.MILLISECONDS)) {
                pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Hears until the connection breaks; false if there is no use in another one. */
    private boolean listen() {
        try (var connection = connect()) {
            kept = connection;
            if (!connection.isWrapperFor(PGConnection.class)) {
                LOG.warn(
                        "The data source does not give connections of the Postgres driver: new work is found by polling.");
                return false;
            }
            hear(connection, connection.unwrap(PGConnection.class));
        } catch (SQLException e) {
            tell(SqlErrors.translate(e, "listening for notifications"));
        }
        return !isClosed();
    }

    /** People are told once that it broke; that it is still broken, only those who look closely. */
    private void tell(RuntimeException broken) {
        if (isClosed()) {
            return;
        }
        var message = "Not listening for notifications; new work is found by polling until it works again: {}";
        if (pauseMillis == FIRST_PAUSE_MILLIS) {
            LOG.warn(message, broken.getMessage());
        } else {
            LOG.debug(message, broken.getMessage());
        }
    }

    private void hear(Connection connection, PGConnection postgres) throws SQLException {
        connection.setAutoCommit(true);
        execute(connection, "LISTEN " + notifications.channel());
        signals.gap();
        pauseMillis = FIRST_PAUSE_MILLIS;
        while (!isClosed()) {
            var heard = postgres.getNotifications(CHECK_EVERY_MILLIS);
            if (heard != null && heard.length > 0) {
                for (var notification : heard) {
                    notifications.receive(notification.getParameter(), signals);
                }
            } else if (!connection.isValid(CHECK_WITHIN_SECONDS)) {
                throw new SQLException("The connection is broken.", "08006");
            }
        }
        execute(connection, "UNLISTEN *");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private Connection connect() throws SQLException {
        if (config.dataSource() != null) {
            return config.dataSource().getConnection();
        }
        var properties = new Properties();
        properties.setProperty("ApplicationName", "steadwork-listener");
        properties.setProperty("tcpKeepAlive", "true");
        var url = Objects.requireNonNull(config.url());
        if (!url.contains("gssEncMode")) { // the driver reads such a connection in its own way
            properties.setProperty("socketFactory", PromptSockets.class.getName());
        }
        if (config.user() != null) {
            properties.setProperty("user", config.user());
        }
        if (config.password() != null) {
            properties.setProperty("password", config.password());
        }
        return DriverManager.getConnection(url, properties);
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    /** Breaks the connection off, so that an application's pool does not get back one that listens. */
    @Override
    public void close() {
        closed.countDown();
        var connection = kept;
        if (connection != null) {
            try {
                connection.abort(Runnable::run);
            } catch (SQLException e) {
                LOG.debug("The listening connection was not closed in order.", e);
            }
        }
    }
}
