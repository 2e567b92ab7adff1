package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Arrays reach Postgres as they are, through connections that let the driver be seen and through those that hide it. */
class BinaryArrayTest extends PostgresFixture {
    private static final Instant[] TIMES = {
        Instant.parse("1969-12-31T23:59:59.999999999Z"), null, Instant.parse("2026-11-17T12:34:56.123456Z")
    };
    private static final Instant[] KEPT = {
        Instant.parse("1969-12-31T23:59:59.999999Z"), null, Instant.parse("2026-11-17T12:34:56.123456Z")
    };
    private static final UUID[] IDS = {UUID.fromString("0193a5c0-0000-7000-8000-000000000001"), null, new UUID(-1, -1)};

    @Test
    void arrays_are_read_as_they_were_sent() throws SQLException {
        try (var connection = DriverManager.getConnection(url)) {
            assertThat(times(connection, BinaryArray.of(connection, TIMES))).containsExactly(KEPT);
            assertThat(ids(connection, BinaryArray.of(connection, IDS))).containsExactly(IDS);
        }
    }

    @Test
    void a_connection_that_hides_the_driver_sends_the_same() throws SQLException {
        try (var connection = DriverManager.getConnection(url)) {
            assertThat(times(connection, BinaryArray.of(hiding(connection), TIMES)))
                    .containsExactly(KEPT);
            assertThat(ids(connection, BinaryArray.of(hiding(connection), IDS))).containsExactly(IDS);
        }
    }

    private static Connection hiding(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                BinaryArrayTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, args) ->
                        method.getName().equals("isWrapperFor") ? false : method.invoke(connection, args));
    }

    private static Stream<Instant> times(Connection connection, Array sent) throws SQLException {
        return Stream.of((Timestamp[]) echoed(connection, "SELECT CAST(? AS timestamptz[])", sent))
                .map(time -> time == null ? null : time.toInstant());
    }

    private static Stream<UUID> ids(Connection connection, Array sent) throws SQLException {
        return Stream.of((UUID[]) echoed(connection, "SELECT CAST(? AS uuid[])", sent));
    }

    private static Object echoed(Connection connection, String sql, Array sent) throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            statement.setArray(1, sent);
            try (var rows = statement.executeQuery()) {
                rows.next();
                return rows.getArray(1).getArray();
            }
        }
    }
}
