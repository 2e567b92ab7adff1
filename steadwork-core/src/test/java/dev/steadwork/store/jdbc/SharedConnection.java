package dev.steadwork.store.jdbc;

import dev.steadwork.store.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/** A store in memory, with the one connection that it has: for tests that look at the same database. */
public record SharedConnection(Store store, Connection connection) {
    public static SharedConnection open() {
        var connection = new AtomicReference<Connection>();
        var config = new StoreConfig(null, null, null, null, "steadwork", 1, false, Duration.ofSeconds(60));
        var store = JdbcStores.openSqlite("jdbc:sqlite::memory:", config, source -> watched(source, connection));
        store.migrate();
        return new SharedConnection(store, connection.get());
    }

    private static DataSource watched(DataSource source, AtomicReference<Connection> opened) {
        return (DataSource) Proxy.newProxyInstance(
                SharedConnection.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, args) -> {
                    try {
                        var answer = method.invoke(source, args);
                        if (answer instanceof Connection connection) {
                            opened.set(connection);
                        }
                        return answer;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
