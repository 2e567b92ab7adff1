package dev.steadwork.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.statement.ParsedSql;
import org.postgresql.PGStatement;

/**
 * Whole statements that travel together: one round trip and, in autocommit mode, one transaction, because the driver
 * sends {@code a; b} with one Sync at the end. Plain JDBC, since Jdbi reads only the first result of a statement.
 *
 * <p>The driver keeps to one Sync only if the size of a row is bounded for every statement: columns of type text or bytea
 * must not be returned, {@code varchar(255)} may be.
 */
final class Pipeline {
    private final Database database;
    private final boolean oneTrip;
    private final List<Part> parts = new ArrayList<>();

    /** Takes one row of a result. */
    @FunctionalInterface
    interface RowReader {
        void read(ResultSet row) throws SQLException;
    }

    /** Takes how many rows a statement changed. */
    @FunctionalInterface
    interface CountReader {
        void read(int count);
    }

    private record Part(ParsedSql statement, Map<String, Object> values, RowReader reader, CountReader counts) {}

    Pipeline(Database database) {
        this(database, true);
    }

    /** @param oneTrip whether to send all statements together; otherwise one after the other */
    Pipeline(Database database, boolean oneTrip) {
        this.database = database;
        this.oneTrip = oneTrip;
    }

    /** Adds a statement with all its parameters by name, and what is to be done with each row it returns. */
    Pipeline add(String sql, Map<String, Object> values, RowReader reader) {
        parts.add(new Part(parse(database.sql(sql)), values, reader, count -> {}));
        return this;
    }

    /** Adds a statement that returns no rows, and what is to be done with the number of those that it changed. */
    void addUpdate(String sql, Map<String, Object> values, CountReader counts) {
        parts.add(new Part(parse(database.sql(sql)), values, row -> {}, counts));
    }

    void run(Connection connection) throws SQLException {
        if (oneTrip && !parts.isEmpty()) {
            run(connection, parts);
        } else {
            for (var part : parts) {
                run(connection, List.of(part));
            }
        }
    }

    private static void run(Connection connection, List<Part> parts) throws SQLException {
        var sql = parts.stream().map(part -> part.statement.getSql()).collect(Collectors.joining(";\n"));
        try (var statement = connection.prepareStatement(sql)) {
            keepPrepared(statement);
            bind(connection, statement, parts);
            boolean hasRows = statement.execute();
            for (var part : parts) {
                if (hasRows) {
                    read(statement, part.reader);
                } else {
                    part.counts.read(statement.getUpdateCount());
                }
                hasRows = statement.getMoreResults();
            }
        }
    }

    /** Our statements come again: the driver is not to wait for the fifth time, unless it was told never to prepare any. */
    private static void keepPrepared(PreparedStatement statement) throws SQLException {
        if (statement.isWrapperFor(PGStatement.class)) {
            var ofDriver = statement.unwrap(PGStatement.class);
            if (ofDriver.getPrepareThreshold() > 1) {
                ofDriver.setPrepareThreshold(1);
            }
        }
    }

    private static void bind(Connection connection, PreparedStatement statement, List<Part> parts) throws SQLException {
        int position = 1;
        for (var part : parts) {
            for (var name : part.statement.getParameters().getParameterNames()) {
                var value = part.values.get(name);
                if (value instanceof Columns.SqlArray array) {
                    bind(connection, statement, position, array);
                } else if (value == null) {
                    throw new IllegalStateException("No value for parameter :" + name);
                } else {
                    statement.setObject(position, value);
                }
                position++;
            }
        }
    }

    private static void bind(Connection connection, PreparedStatement statement, int position, Columns.SqlArray array)
            throws SQLException {
        if (array.elements() == null) {
            statement.setNull(position, Types.ARRAY, "_" + array.elementType());
        } else if (array.elements() instanceof UUID[] uuids) {
            statement.setArray(position, BinaryArray.of(connection, uuids));
        } else if (array.elements() instanceof Instant[] times) {
            statement.setArray(position, BinaryArray.of(connection, times));
        } else {
            statement.setArray(position, connection.createArrayOf(array.elementType(), array.elements()));
        }
    }

    private static void read(PreparedStatement statement, RowReader reader) throws SQLException {
        try (var rows = statement.getResultSet()) {
            while (rows.next()) {
                reader.read(rows);
            }
        }
    }

    private static ParsedSql parse(String sql) {
        // The context is only for the parser's error message.
        return Database.PARSER.parse(sql, null);
    }
}
