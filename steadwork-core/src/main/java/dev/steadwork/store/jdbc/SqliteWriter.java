package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidState;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread write at a time, in the order they came. SQLite has one writer anyway, but lets the others wait
 * unfairly.
 */
final class SqliteWriter implements AutoCloseable {
    private final ReentrantLock turn = new ReentrantLock(true);
    private final Supplier<Handle> open;
    private final boolean keepOpen;
    private volatile @Nullable Handle kept;

    /** @param keepOpen whether the connection, with its prepared statements, is kept between transactions */
    SqliteWriter(Supplier<Handle> open, boolean keepOpen) {
        this.open = open;
        this.keepOpen = keepOpen;
    }

    <T> T inTransaction(HandleCallback<T, RuntimeException> work) {
        if (isHeld()) {
            throw new InvalidState(
                    "This thread is inside ctx.transaction(...), which holds the one writer of SQLite. Do this before or after the transactional step.");
        }
        return exclusively(handle -> {
            // At once, because a transaction that begins by reading may find later that it cannot write.
            SqliteStatement.of(handle, "BEGIN IMMEDIATE").execute();
            try {
                var result = work.withHandle(handle);
                SqliteStatement.of(handle, "COMMIT").execute();
                return result;
            } catch (RuntimeException | Error e) {
                rollback(handle, e);
                throw e;
            }
        });
    }

    <T> T exclusively(HandleCallback<T, RuntimeException> work) {
        turn.lock();
        try {
            if (keepOpen) {
                return onKept(work);
            }
            try (var handle = open.get()) {
                return work.withHandle(handle);
            }
        } finally {
            turn.unlock();
        }
    }

    private <T> T onKept(HandleCallback<T, RuntimeException> work) {
        var handle = kept();
        try {
            return work.withHandle(handle);
        } catch (RuntimeException | Error e) {
            if (SqlErrors.sqlException(e) != null
                    && handle.getStatementBuilder() instanceof KeptStatements statements) {
                statements.forget();
            }
            throw e;
        }
    }

    /** Whether this thread writes. */
    boolean isHeld() {
        return turn.isHeldByCurrentThread();
    }

    /** Opens the connection that is kept, if it is not open yet. */
    void open() {
        if (kept == null) {
            exclusively(handle -> handle);
        }
    }

    private Handle kept() {
        var handle = kept;
        if (handle == null) {
            handle = open.get();
            kept = handle;
        }
        return handle;
    }

    /**
     * After some errors, such as a full disk, SQLite has rolled back by itself and refuses to do it again. Not by a statement that
     * is kept: it would be useless after that, and the next transaction that fails would stay open, with the only lock there is.
     */
    private static void rollback(Handle handle, Throwable why) {
        try (var statement = handle.getConnection().createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException alreadyDone) {
            why.addSuppressed(alreadyDone);
        }
    }

    @Override
    public void close() {
        turn.lock();
        try {
            var handle = kept;
            if (handle != null) {
                handle.close();
                kept = null;
            }
        } finally {
            turn.unlock();
        }
    }
}
