package dev.steadwork.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A transaction over several calls, which may be of several threads, one after the other. */
final class OpenTransaction implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OpenTransaction.class);

    private final Trips trips;
    private final Connection connection;
    private final boolean autocommitBefore;
    private final AtomicBoolean closed = new AtomicBoolean();

    OpenTransaction(Trips trips, Connection connection) throws SQLException {
        this.trips = trips;
        this.connection = connection;
        this.autocommitBefore = connection.getAutoCommit();
        connection.setAutoCommit(false);
    }

    <T> T run(Trips.Work<T> work) {
        return trips.on(connection, work);
    }

    void commit() {
        trips.on(connection, open -> {
            open.commit();
            return true;
        });
    }

    boolean isOpen() {
        return !closed.get();
    }

    /** Rolls back what was not committed. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try (connection) {
            connection.rollback();
            connection.setAutoCommit(autocommitBefore);
        } catch (SQLException broken) {
            log.debug("A transaction ended with its connection.", broken);
        }
    }
}
