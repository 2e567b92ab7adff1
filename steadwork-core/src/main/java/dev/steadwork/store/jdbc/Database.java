package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidArgument;
import dev.steadwork.SteadworkException;
import dev.steadwork.Unavailable;
import java.sql.Connection;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.ColonPrefixSqlParser;
import org.jdbi.v3.core.statement.SqlParser;

/** One database: connections, the schema's name in statements, errors in our own words. */
final class Database implements AutoCloseable {
    /** Knows the statements that it has read; reading one takes longer than many of them do. */
    static final SqlParser PARSER = new ColonPrefixSqlParser();

    private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,40}");

    private final Access access;
    private final Dialect dialect;
    private final String schema;
    private final String place;
    private final Map<String, String> statements = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** @param place what people call the database in messages; no passwords */
    Database(Access access, Dialect dialect, String schema, String place) {
        this.access = access;
        this.dialect = dialect;
        this.schema = schema;
        this.place = place;
    }

    /** Refuses a schema name that would need quoting, or that the databases keep for themselves. */
    static String checkSchemaName(String schema) {
        if (!SCHEMA.matcher(schema).matches() || schema.startsWith("pg_") || schema.startsWith("sqlite")) {
            throw new InvalidArgument(
                    "schema is '%s'; allowed are 1 to 41 characters of a-z, 0-9 and _, the first no digit, and neither pg_ nor sqlite in front."
                            .formatted(schema));
        }
        return schema;
    }

    Jdbi jdbi() {
        return access.jdbi();
    }

    DataSource dataSource() {
        return access.dataSource();
    }

    /** Jdbi on a connection that somebody else closes. */
    Handle handleOf(Connection connection) {
        var jdbi = Jdbi.create(connection);
        dialect.configure(jdbi);
        return jdbi.open();
    }

    Dialect dialect() {
        return dialect;
    }

    String schema() {
        return schema;
    }

    /** What people call the database. */
    String place() {
        return place;
    }

    /** The statement with the configured schema in place of {@code steadwork.}. */
    String sql(String statement) {
        return statements.computeIfAbsent(statement, text -> dialect.withSchema(text, schema));
    }

    /** The database's clock, the same within a transaction. */
    Instant now(Handle handle) {
        return dialect.now(handle);
    }

    /** Runs statements that change nothing. */
    <T> T read(HandleCallback<T, RuntimeException> work) {
        return translating("reading from", () -> access.read(work));
    }

    /** Runs a statement or two that change nothing, as an idle worker does now and then. */
    <T> T look(HandleCallback<T, RuntimeException> work) {
        return translating("reading from", () -> access.look(work));
    }

    /** Runs work over plain JDBC that commits by itself. */
    <T> T writing(Supplier<T> work) {
        return translating("writing to", work);
    }

    /** Whether this thread is in a transaction that no other can be beside. */
    boolean isInTransaction() {
        return access.isInTransaction();
    }

    /** Runs statements in one transaction, again if the database chose it as the victim of a deadlock. */
    <T> T inTransaction(HandleCallback<T, RuntimeException> work) {
        return translating("writing to", () -> access.inTransaction(work));
    }

    /** The error to throw for one that a driver or Jdbi threw. */
    RuntimeException translate(RuntimeException e, String doing) {
        if (e instanceof SteadworkException) {
            return e;
        }
        var where = doing + " " + place;
        if (closed) {
            return new Unavailable("The store was closed while %s.".formatted(where), e);
        }
        return SqlErrors.isSqliteError(SqlErrors.sqlException(e)) && isSchemaMissing()
                ? SqlErrors.schemaDiffers(where)
                : SqlErrors.translate(e, where);
    }

    private <T> T translating(String doing, Supplier<T> work) {
        if (closed) {
            throw new Unavailable("The store is closed; open it again to go on %s %s.".formatted(doing, place), null);
        }
        try {
            return work.get();
        } catch (RuntimeException e) {
            throw translate(e, doing);
        }
    }

    private boolean isSchemaMissing() {
        return access.read(handle -> !dialect.hasTable(handle, schema, "run"));
    }

    @Override
    public void close() {
        closed = true;
        access.close();
    }
}
