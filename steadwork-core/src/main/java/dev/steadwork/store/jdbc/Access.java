package dev.steadwork.store.jdbc;

import javax.sql.DataSource;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;

/** How connections to one kind of database are opened, shared and closed. */
interface Access extends AutoCloseable {
    DataSource dataSource();

    Jdbi jdbi();

    <T> T read(HandleCallback<T, RuntimeException> work);

    /** Reads a little, as an idle worker does now and then. */
    default <T> T look(HandleCallback<T, RuntimeException> work) {
        return read(work);
    }

    <T> T inTransaction(HandleCallback<T, RuntimeException> work);

    /** Whether this thread is in a transaction that no other can be beside. */
    default boolean isInTransaction() {
        return false;
    }

    /** Closes what it opened itself. */
    @Override
    void close();
}
