package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.ColonPrefixSqlParser;
import org.jspecify.annotations.Nullable;

/**
 * A statement of SQLite's hot path over plain JDBC, because Jdbi takes longer to bind and to map than SQLite to execute. The text
 * is sent as it is: SQLite knows named parameters and numbers them in the order in which they first appear.
 */
final class SqliteStatement {
    /** The numbers of the parameters of each statement; their texts are constants. */
    private static final Map<String, Map<String, Integer>> NUMBERS = new ConcurrentHashMap<>();

    private final String sql;
    private final Map<String, Integer> numbers;
    private final PreparedStatement statement;
    private final boolean kept;
    private long bound;

    /** Makes something of one row. */
    @FunctionalInterface
    interface RowMapper<T> {
        T map(ResultSet row) throws SQLException;
    }

    private SqliteStatement(String sql, PreparedStatement statement, boolean kept) {
        this.sql = sql;
        this.numbers = NUMBERS.computeIfAbsent(sql, SqliteStatement::numbers);
        this.statement = statement;
        this.kept = kept;
    }

    /** Prepared for good on the connection that keeps its statements, for this one time on others. */
    static SqliteStatement of(Handle handle, String sql) {
        var connection = handle.getConnection();
        try {
            return handle.getStatementBuilder() instanceof KeptStatements statements
                    ? new SqliteStatement(sql, statements.prepared(connection, sql), true)
                    : new SqliteStatement(sql, connection.prepareStatement(sql), false);
        } catch (SQLException e) {
            throw new Trips.Failure(e);
        }
    }

    private static Map<String, Integer> numbers(String sql) {
        // The context is only for the parser's error message.
        var names = new ColonPrefixSqlParser().parse(sql, null).getParameters().getParameterNames();
        var numbers = new HashMap<String, Integer>();
        names.forEach(name -> numbers.putIfAbsent(name, numbers.size() + 1));
        return numbers;
    }

    SqliteStatement bind(String name, @Nullable Object value) {
        var number = numbers.get(name);
        if (number == null) {
            throw new IllegalStateException("There is no parameter :%s in %s".formatted(name, sql));
        }
        try {
            statement.setObject(number, value);
        } catch (SQLException e) {
            throw new Trips.Failure(e);
        }
        bound |= 1L << number;
        return this;
    }

    SqliteStatement bind(String name, @Nullable Instant time) {
        return bind(name, time == null ? null : (Object) SqliteTime.micros(time));
    }

    SqliteStatement bind(String name, @Nullable RunId run) {
        return bind(name, run == null ? null : (Object) run.toString());
    }

    SqliteStatement bind(String name, boolean value) {
        return bind(name, (Object) (value ? 1 : 0));
    }

    /** Returns the number of rows that changed. */
    int execute() {
        return run(PreparedStatement::executeUpdate);
    }

    <T> List<T> list(RowMapper<T> mapper) {
        return run(prepared -> {
            try (var rows = prepared.executeQuery()) {
                var found = new ArrayList<T>();
                while (rows.next()) {
                    found.add(mapper.map(rows));
                }
                return found;
            }
        });
    }

    /** The first row, if there is one. */
    <T> Optional<T> first(RowMapper<T> mapper) {
        return run(prepared -> {
            try (var rows = prepared.executeQuery()) {
                return rows.next() ? Optional.of(mapper.map(rows)) : Optional.empty();
            }
        });
    }

    @FunctionalInterface
    private interface Work<T> {
        T on(PreparedStatement statement) throws SQLException;
    }

    private <T> T run(Work<T> work) {
        try {
            checkAllBound();
            return work.on(statement);
        } catch (SQLException e) {
            throw new Trips.Failure(e);
        } finally {
            close();
        }
    }

    /** A statement that is kept still has the values of its last use. */
    private void checkAllBound() {
        if (Long.bitCount(bound) != numbers.size()) {
            throw new IllegalStateException(
                    "%d of %d parameters have a value: %s".formatted(Long.bitCount(bound), numbers.size(), sql));
        }
    }

    private void close() {
        if (!kept) {
            try {
                statement.close();
            } catch (SQLException e) {
                throw new Trips.Failure(e);
            }
        }
    }

    static @Nullable Instant time(ResultSet row, String column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : SqliteTime.instant(micros);
    }
}
