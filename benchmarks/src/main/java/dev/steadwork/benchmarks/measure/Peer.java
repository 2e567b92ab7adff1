package dev.steadwork.benchmarks.measure;

import java.sql.SQLException;
import java.util.List;

/** One queue under test. Handlers call {@link Jobs#ran}. */
interface Peer {
    /** Creates the tables. */
    void setup() throws Exception;

    Enqueuer enqueuer() throws Exception;

    /** Starts the worker of this process. {@code mode}: "drain", "low" (tuned for latency) or "default". */
    AutoCloseable worker(String mode) throws Exception;

    /** Counts the runs that are not finished, without those that sleep for long. */
    String unfinishedSql();

    /** Whether 256 callers may share one enqueuer. */
    default boolean bearsManyCallers() {
        return true;
    }

    /** Adds runs that have ended and runs that sleep for long, as fast as the database can. */
    default void fill(long finished, long sleeping) throws SQLException {
        throw new UnsupportedOperationException("this peer cannot be filled");
    }

    interface Enqueuer extends AutoCloseable {
        void one(long stamp) throws Exception;

        /** Adds all of them with the batch interface; false when there is none. */
        default boolean many(List<Long> stamps) throws Exception {
            return false;
        }
    }
}
