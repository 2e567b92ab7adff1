package dev.steadwork.store.jdbc;

import java.time.Instant;
import java.util.Collection;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatement;

/**
 * What differs between the databases outside the hot path. A statement that differs stands here whole, with the same
 * parameters and columns in both.
 */
interface Dialect {
    /** The folder of the migrations. */
    String name();

    /** Puts the schema's name in front of tables written as {@code steadwork.run}. */
    String withSchema(String statement, String schema);

    /** Teaches Jdbi how this database keeps times, run ids and lists. */
    void configure(Jdbi jdbi);

    /** Whether a savepoint can be set by the driver in a transaction that was begun by a statement. */
    boolean hasSavepoints();

    /** The database's clock. */
    Instant now(Handle handle);

    boolean hasTable(Handle handle, String schema, String table);

    boolean hasSchema(Handle handle, String schema);

    /** Keeps other processes from migrating until the transaction ends. */
    void lockMigrations(Handle handle, String schema);

    /** Binds a list for the membership test that this dialect's statements use. */
    void bindList(SqlStatement<?> statement, String name, Collection<String> values);

    /** The time and when the next event is due, in one statement: processes look when nothing happens. Parameters: shard, namespace. */
    String selectOutboxOutlook();

    /** Parameters: shard, namespace, now, limit. Locks what it finds, where others could take it too. */
    String selectDueOutbox();

    /** Parameters: shard, runs. */
    String selectEnds();

    /** Parameters: shard, namespace, from, before, statuses, type, queue, tags, externalId, createdAfter, createdBefore, parent, errorText, withDeleted, limit. */
    String selectRuns();

    /** Parameters as those of {@link #selectRuns()}. */
    String selectRunIds();

    /** Parameters as those of {@link #selectRuns()}, without limit. */
    String countRuns();

    /** Parameters: namespace, after, queue, status, labels, limit. */
    String selectWorkers();

    /** Parameters as those of {@link #selectWorkers()}, without after and limit. */
    String countWorkers();

    /** Locks schedules that are due. Parameters: shard, namespace, now, only (a schedule's id, or null for any), limit. */
    String claimDueSchedules();

    /** Locks schedules whose buffered slot waits for nothing any more. Parameters: shard, namespace, only, limit. */
    String claimBufferedSchedules();

    /** Parameters: shard, namespace, limit. */
    String selectScheduleOutlook();

    /** Parameters: shard, runs. */
    String selectRunStatuses();

    /** What is asked about queues. */
    QueueStatements queues();
}
