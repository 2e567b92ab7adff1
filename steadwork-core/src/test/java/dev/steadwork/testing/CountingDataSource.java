package dev.steadwork.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** Counts what is executed over the connections of a data source. */
public final class CountingDataSource {
    private final DataSource source;
    private final AtomicLong statements = new AtomicLong();
    private final AtomicLong transactions = new AtomicLong();

    public CountingDataSource(DataSource source) {
        this.source = source;
    }

    /** How many statements were executed, a pool's question whether a connection lives too, BEGIN and COMMIT not. */
    public long statements() {
        return statements.get();
    }

    /** How many transactions were committed, statements on their own included. */
    public long transactions() {
        return transactions.get();
    }

    /** The data source whose connections are counted. */
    public DataSource counted() {
        return proxy(DataSource.class, (method, arguments) -> {
            var result = invoke(source, method, arguments);
            return result instanceof Connection connection ? new Counted(connection).connection() : result;
        });
    }

    private final class Counted {
        private final Connection connection;
        private boolean begun;

        Counted(Connection connection) {
            this.connection = connection;
        }

        Connection connection() {
            return proxy(Connection.class, (method, arguments) -> {
                var result = invoke(connection, method, arguments);
                switch (method.getName()) {
                    case "commit" -> transactions.incrementAndGet();
                    case "isValid" -> statements.incrementAndGet();
                    default -> {}
                }
                if (result instanceof PreparedStatement statement) {
                    return statement(PreparedStatement.class, statement, (String) arguments[0]);
                }
                return result instanceof Statement statement ? statement(Statement.class, statement, "") : result;
            });
        }

        private <S extends Statement> S statement(Class<S> type, S statement, String prepared) {
            return proxy(type, (method, arguments) -> {
                if (method.getName().startsWith("execute")) {
                    count(arguments != null && arguments[0] instanceof String sql ? sql : prepared);
                }
                return invoke(statement, method, arguments);
            });
        }

        private void count(String sql) throws SQLException {
            var firstWord = sql.strip().toUpperCase(Locale.ROOT).split("\\W", 2)[0];
            switch (firstWord) {
                case "BEGIN" -> begun = true;
                case "ROLLBACK" -> begun = false;
                case "COMMIT" -> {
                    begun = false;
                    transactions.incrementAndGet();
                }
                default -> {
                    statements.incrementAndGet();
                    if (!begun && connection.getAutoCommit()) {
                        transactions.incrementAndGet();
                    }
                }
            }
        }
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call.answer(method, arguments)));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @FunctionalInterface
    private interface Call {
        Object answer(Method method, Object[] arguments) throws Throwable;
    }
}
