package dev.steadwork.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jdbi.v3.core.Handle;

/** Work over plain JDBC, whose errors come out as those of {@link Database} do. */
final class Trips {
    private static final int DEADLOCK_RETRIES = 5;
    private static final long RETRY_WITHIN_NANOS = 20_000_000;

    private final Database database;

    Trips(Database database) {
        this.database = database;
    }

    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Carries a driver's exception to where it is translated. */
    static final class Failure extends RuntimeException {
        Failure(SQLException cause) {
            super(cause);
        }
    }

    /** Every round trip is a transaction. The work is repeated if the database chose it as the victim of a deadlock. */
    <T> T autocommit(Work<T> work) {
        return database.writing(() -> unchecked(() -> {
            try (var connection = database.dataSource().getConnection()) {
                return inAutocommit(connection, work);
            }
        }));
    }

    <T> T inTransaction(Work<T> work) {
        return database.inTransaction(handle -> unchecked(() -> work.on(handle.getConnection())));
    }

    /** A transaction that stays open until it is closed. */
    OpenTransaction begin() {
        return database.writing(() -> unchecked(() -> {
            var connection = database.dataSource().getConnection();
            try {
                return new OpenTransaction(this, connection);
            } catch (SQLException | RuntimeException | Error failure) {
                connection.close();
                throw failure;
            }
        }));
    }

    /** Runs in a transaction that stays open. */
    <T> T on(Connection connection, Work<T> work) {
        return database.writing(() -> unchecked(() -> work.on(connection)));
    }

    /** Runs in a transaction of our own that is under way. */
    <T> T within(Handle transaction, Work<T> work) {
        return unchecked(() -> work.on(transaction.getConnection()));
    }

    /** Runs in a transaction that somebody else began. */
    <T> T inTransactionOf(Connection connection, Work<T> work) {
        try {
            return unchecked(() -> work.on(connection));
        } catch (RuntimeException e) {
            throw database.translate(e, "triggering in the caller's transaction in");
        }
    }

    /** The connections of an application's pool may be in the other mode. */
    private static <T> T inAutocommit(Connection connection, Work<T> work) throws SQLException {
        if (connection.getAutoCommit()) {
            return repeatedly(connection, work);
        }
        connection.setAutoCommit(true);
        try {
            return repeatedly(connection, work);
        } finally {
            connection.setAutoCommit(false);
        }
    }

    private static <T> T repeatedly(Connection connection, Work<T> work) throws SQLException {
        for (int retry = 0; ; retry++) {
            try {
                return work.on(connection);
            } catch (SQLException e) {
                if (retry == DEADLOCK_RETRIES || !SqlErrors.isDeadlock(e)) {
                    throw e;
                }
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(RETRY_WITHIN_NANOS));
            }
        }
    }

    @FunctionalInterface
    private interface Throwing<T> {
        T run() throws SQLException;
    }

    private static <T> T unchecked(Throwing<T> work) {
        try {
            return work.run();
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }
}
