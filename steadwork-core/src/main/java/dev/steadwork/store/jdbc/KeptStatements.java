package dev.steadwork.store.jdbc;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import org.jdbi.v3.core.statement.DefaultStatementBuilder;
import org.jdbi.v3.core.statement.StatementBuilder;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Keeps every prepared statement until its connection closes: preparing costs SQLite more than executing. For statements
 * whose texts are constants, and for one thread at a time.
 */
final class KeptStatements implements StatementBuilder {
    private final StatementBuilder builder = new DefaultStatementBuilder();
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    /** For those who do without Jdbi. */
    PreparedStatement prepared(Connection connection, String sql) throws SQLException {
        var known = known(sql);
        return known != null ? known : keep(sql, connection.prepareStatement(sql));
    }

    @Override
    public PreparedStatement create(Connection connection, String sql, StatementContext context) throws SQLException {
        var known = known(sql);
        return known != null ? known : keep(sql, builder.create(connection, sql, context));
    }

    private @Nullable PreparedStatement known(String sql) throws SQLException {
        var known = prepared.get(sql);
        return known == null || known.isClosed() ? null : known;
    }

    private PreparedStatement keep(String sql, PreparedStatement statement) {
        prepared.put(sql, statement);
        return statement;
    }

    /** Prepares them anew: after an error such as a full disk the driver refuses to execute a statement again, and does not say so. */
    void forget() {
        prepared.values().forEach(KeptStatements::close);
        prepared.clear();
    }

    private static void close(PreparedStatement statement) {
        try {
            statement.close();
        } catch (SQLException useless) {
            // which it was before
        }
    }

    @Override
    public Statement create(Connection connection, StatementContext context) throws SQLException {
        return builder.create(connection, context);
    }

    @Override
    public CallableStatement createCall(Connection connection, String sql, StatementContext context)
            throws SQLException {
        return builder.createCall(connection, sql, context);
    }

    @Override
    public void close(Connection connection, String sql, Statement statement) throws SQLException {
        if (!(statement instanceof PreparedStatement)) {
            builder.close(connection, sql, statement);
        }
    }

    @Override
    public void close(Connection connection) {
        prepared.clear();
    }
}
