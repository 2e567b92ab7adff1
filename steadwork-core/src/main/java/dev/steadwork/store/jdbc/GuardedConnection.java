package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Set;

/** A connection whose transaction is ended by the store alone. */
final class GuardedConnection {
    private static final Set<String> FORBIDDEN =
            Set.of("commit", "close", "abort", "setAutoCommit", "setReadOnly", "setTransactionIsolation", "setSchema");

    private GuardedConnection() {}

    /** @param savepoints whether the driver can set them without changing how the connection commits */
    static Connection of(Connection guarded, boolean savepoints) {
        return (Connection) Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    var name = method.getName();
                    boolean endsTransaction = name.equals("rollback") && args == null;
                    boolean changesMode = name.equals("setSavepoint") && !savepoints;
                    if (FORBIDDEN.contains(name) || endsTransaction || changesMode) {
                        throw new InvalidState(
                                "%s() was called inside ctx.transaction(...), which commits by itself when the code returns and rolls back when it throws. Leave the call out."
                                        .formatted(name));
                    }
                    if (name.equals("getAutoCommit")) {
                        return false;
                    }
                    try {
                        return method.invoke(guarded, args);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
