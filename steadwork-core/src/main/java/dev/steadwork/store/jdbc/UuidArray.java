package dev.steadwork.store.jdbc;

import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.Oid;
import org.postgresql.jdbc.PgArray;

/** Arrays of UUIDs as Postgres sends them in binary: the driver would write and the server read them as text. */
final class UuidArray {
    private static final int HEADER_BYTES = 20;
    private static final int UUID_BYTES = 16;
    private static final int NULL_LENGTH = -1;

    private UuidArray() {}

    static Array of(Connection connection, @Nullable UUID[] elements) throws SQLException {
        return connection.isWrapperFor(BaseConnection.class)
                ? new PgArray(connection.unwrap(BaseConnection.class), Oid.UUID_ARRAY, binary(elements))
                : connection.createArrayOf("uuid", elements);
    }

    /** One dimension from 1, then each element behind its length. */
    private static byte[] binary(@Nullable UUID[] elements) {
        int nulls = 0;
        for (var element : elements) {
            nulls += element == null ? 1 : 0;
        }
        var bytes = ByteBuffer.allocate(
                HEADER_BYTES + elements.length * Integer.BYTES + (elements.length - nulls) * UUID_BYTES);
        bytes.putInt(1)
                .putInt(nulls > 0 ? 1 : 0)
                .putInt(Oid.UUID)
                .putInt(elements.length)
                .putInt(1);
        for (var element : elements) {
            if (element == null) {
                bytes.putInt(NULL_LENGTH);
            } else {
                bytes.putInt(UUID_BYTES)
                        .putLong(element.getMostSignificantBits())
                        .putLong(element.getLeastSignificantBits());
            }
        }
        return bytes.array();
    }
}
