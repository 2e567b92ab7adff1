package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.InvalidArgument;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.SteadworkException;
import dev.steadwork.Timeout;
import dev.steadwork.Unauthorized;
import dev.steadwork.Unavailable;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Turns what a driver throws into our own errors, by SQLState and vendor code and never by message text. */
final class SqlErrors {
    private static final Set<String> SCHEMA_DIFFERS = Set.of("42P01", "42703", "3F000");
    private static final Set<String> SHUTTING_DOWN = Set.of("57P01", "57P02", "57P03", "57P05");
    private static final Set<String> TRY_AGAIN = Set.of("40001", "40P01", "55P03", "25006", "25P03");
    private static final Set<String> NOT_STORABLE = Set.of("22008", "22021", "22P05", "54000");

    /** A prepared statement is not there, or is another session's. */
    private static final Set<String> OTHER_SESSION = Set.of("26000", "42P05");

    private static final int SQLITE_ERROR = 1;
    private static final int SQLITE_PERM = 3;
    private static final int SQLITE_BUSY = 5;
    private static final int SQLITE_LOCKED = 6;
    private static final int SQLITE_READONLY = 8;
    private static final int SQLITE_INTERRUPT = 9;
    private static final int SQLITE_IOERR = 10;
    private static final int SQLITE_CORRUPT = 11;
    private static final int SQLITE_FULL = 13;
    private static final int SQLITE_CANTOPEN = 14;
    private static final int SQLITE_CONSTRAINT = 19;
    private static final int SQLITE_NOTADB = 26;

    private SqlErrors() {}

    /**
     * The error to throw: a {@link SteadworkException}, or an IllegalStateException if the statement itself is at fault.
     *
     * @param doing what was being done, such as "reading from Postgres at db:5432/app"
     */
    static RuntimeException translate(SQLException e, String doing) {
        var state = e.getSQLState();
        return state == null ? bySqliteCode(e, doing) : byState(e, state, doing);
    }

    /** Looks for the driver's exception behind a wrapper of Jdbi or of the pool. */
    static RuntimeException translate(RuntimeException e, String doing) {
        if (e instanceof SteadworkException) {
            return e;
        }
        var behind = sqlException(e);
        return behind == null ? e : translate(behind, doing);
    }

    static @Nullable SQLException sqlException(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException found) {
                return found;
            }
        }
        return null;
    }

    /** Whether the same transaction may well succeed at once. */
    static boolean isDeadlock(@Nullable SQLException e) {
        return e != null && ("40001".equals(e.getSQLState()) || "40P01".equals(e.getSQLState()));
    }

    /** Whether a row with the same key is there. */
    static boolean isDuplicate(SQLException e) {
        return "23505".equals(e.getSQLState());
    }

    /** Whether it may be because of a notification: the role must not send any, or too many wait for a listener that hangs. */
    static boolean mayNotNotify(SQLException e) {
        return "42501".equals(e.getSQLState()) || "54000".equals(e.getSQLState());
    }

    /** Whether what answers does not know an option of the connection, as PgBouncer does not. */
    private static boolean isUnknownOption(SQLException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains("startup parameter")) {
                return "08P01".equals(e.getSQLState());
            }
        }
        return false;
    }

    /** Whether SQLite refused the statement itself, which it also does when a table is missing. */
    static boolean isSqliteError(@Nullable SQLException e) {
        return e != null && e.getSQLState() == null && e.getErrorCode() == SQLITE_ERROR;
    }

    static PreconditionFailed schemaDiffers(String doing) {
        return new PreconditionFailed(
                "The schema is missing or older than this version of the library needs, found while %s. Open with migrate(true), or apply the printed migrations."
                        .formatted(doing));
    }

    private static RuntimeException byState(SQLException e, String state, String doing) {
        if (state.equals("08006") && hasCause(e, SocketTimeoutException.class) || state.equals("57014")) {
            return new Timeout("The database did not answer in time while %s.".formatted(doing), e);
        }
        if (OTHER_SESSION.contains(state) || isUnknownOption(e)) {
            return because(
                    new PreconditionFailed(
                            "What answers keeps no sessions, found while %s (SQLState %s). Through PgBouncer in transaction mode open with listen(false), and give a data source of your own prepareThreshold=0."
                                    .formatted(doing, state)),
                    e);
        }
        if (state.startsWith("08") || state.startsWith("53") || SHUTTING_DOWN.contains(state)) {
            return unreachable(e, doing, "SQLState " + state);
        }
        if (TRY_AGAIN.contains(state)) {
            return new Unavailable(
                    "The database could not do it now while %s (SQLState %s); try again.".formatted(doing, state), e);
        }
        if (state.startsWith("28") || state.equals("42501")) {
            return because(
                    new Unauthorized(
                            "The database refused the user while %s (SQLState %s). Check user, password and rights."
                                    .formatted(doing, state)),
                    e);
        }
        if (SCHEMA_DIFFERS.contains(state)) {
            return because(schemaDiffers(doing), e);
        }
        if (isDuplicate(e)) {
            return because(new Conflict("A row with this key exists already, found while %s.".formatted(doing)), e);
        }
        if (state.equals("23503")) {
            return because(
                    new InvalidArgument("A row that was referred to does not exist, found while %s.".formatted(doing)),
                    e);
        }
        if (state.equals("3D000")) {
            return because(
                    new InvalidArgument("The database does not exist, found while %s. Create it.".formatted(doing)), e);
        }
        if (NOT_STORABLE.contains(state)) {
            return because(
                    new InvalidArgument("The database cannot store this value, found while %s (SQLState %s)."
                            .formatted(doing, state)),
                    e);
        }
        return e instanceof SQLTransientConnectionException
                ? unreachable(e, doing, "SQLState " + state)
                : fault(e, doing);
    }

    private static RuntimeException bySqliteCode(SQLException e, String doing) {
        return switch (e.getErrorCode()) {
            case SQLITE_BUSY, SQLITE_LOCKED ->
                new Unavailable("Another process kept the database locked while %s; try again.".formatted(doing), e);
            case SQLITE_PERM, SQLITE_READONLY ->
                new Unavailable(
                        "The file may not be written, found while %s. Check the rights of the file and its directory."
                                .formatted(doing),
                        e);
            case SQLITE_FULL -> new Unavailable("The disk is full, found while %s. Make room.".formatted(doing), e);
            case SQLITE_IOERR, SQLITE_CANTOPEN ->
                new Unavailable(
                        "The file cannot be opened, read or written, found while %s. Check its path, its rights and the disk."
                                .formatted(doing),
                        e);
            case SQLITE_INTERRUPT -> new Timeout("The database was interrupted while %s.".formatted(doing), e);
            case SQLITE_NOTADB ->
                because(
                        new InvalidArgument("The file is not an SQLite database, found while %s. Name another file."
                                .formatted(doing)),
                        e);
            case SQLITE_CORRUPT ->
                because(
                        new PreconditionFailed("The database file is damaged, found while %s. Restore it from a backup."
                                .formatted(doing)),
                        e);
            case SQLITE_CONSTRAINT ->
                SqliteConstraint.isKey(e)
                        ? because(
                                new Conflict("A row with this key exists already, found while %s.".formatted(doing)), e)
                        : fault(e, doing);
            default ->
                e instanceof SQLTransientConnectionException
                        ? unreachable(e, doing, "no free connection")
                        : fault(e, doing);
        };
    }

    private static Unavailable unreachable(SQLException e, String doing, String reason) {
        return new Unavailable(
                "The database cannot be reached while %s (%s). Check that it runs and accepts connections."
                        .formatted(doing, reason),
                e);
    }

    private static IllegalStateException fault(SQLException e, String doing) {
        return new IllegalStateException("The database refused a statement while %s.".formatted(doing), e);
    }

    private static SteadworkException because(SteadworkException ours, SQLException theirs) {
        ours.addSuppressed(theirs);
        return ours;
    }

    private static boolean hasCause(Throwable e, Class<? extends Throwable> type) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    /** Apart, so that the driver's classes are not needed by applications that leave SQLite out. */
    private static final class SqliteConstraint {
        static boolean isKey(SQLException e) {
            return e instanceof SQLiteException sqlite
                    && (sqlite.getResultCode() == SQLiteErrorCode.SQLITE_CONSTRAINT_UNIQUE
                            || sqlite.getResultCode() == SQLiteErrorCode.SQLITE_CONSTRAINT_PRIMARYKEY);
        }
    }
}
