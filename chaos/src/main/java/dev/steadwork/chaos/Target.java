package dev.steadwork.chaos;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;

/** The database under fire. */
interface Target extends AutoCloseable {
    /** Its address without a network that fails. */
    String url();

    /** Its address for the worker with this number. */
    String workerUrl(int lane);

    /** Its address for the client with this number. */
    String clientUrl(int lane);

    /** What can be done to it and to those who use it, here. */
    Set<FaultKind> faults();

    /** Makes the fault happen and returns when it is over. */
    void inflict(Fault fault, History history);

    /** How far its clock is ahead of that of the workers. */
    Duration ahead();

    /** Whether a process that is frozen now is inside a write, whose locks it would keep. */
    boolean isBeingWritten();

    /** The statement, written for the schema {@code steadwork}, as this database spells it. */
    String sql(String statement);

    default Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    @Override
    void close();
}
