package dev.steadwork.store.jdbc;

import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.Oid;
import org.postgresql.jdbc.PgArray;

/** Arrays of UUIDs and of times as Postgres sends them in binary: the driver would write and the server read them as text. */
final class BinaryArray {
    private static final int HEADER_BYTES = 20;
    private static final int NULL_LENGTH = -1;
    /** Postgres counts microseconds from the year 2000 on. */
    private static final long YEAR_2000_MICROS = Columns.micros(Instant.parse("2000-01-01T00:00:00Z"));

    private BinaryArray() {}

    static Array of(Connection connection, @Nullable UUID[] elements) throws SQLException {
        if (!connection.isWrapperFor(BaseConnection.class)) {
            return connection.createArrayOf("uuid", elements);
        }
        var bytes = binary(
                elements,
                Oid.UUID,
                2 * Long.BYTES,
                (to, uuid) -> to.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits()));
        return new PgArray(connection.unwrap(BaseConnection.class), Oid.UUID_ARRAY, bytes);
    }

    static Array of(Connection connection, @Nullable Instant[] elements) throws SQLException {
        if (!connection.isWrapperFor(BaseConnection.class)) {
            var texts = Stream.of(elements)
                    .map(time -> time == null ? null : kept(time).toString());
            return connection.createArrayOf("timestamptz", texts.toArray());
        }
        var bytes = binary(
                elements,
                Oid.TIMESTAMPTZ,
                Long.BYTES,
                (to, time) -> to.putLong(Columns.micros(time) - YEAR_2000_MICROS));
        return new PgArray(connection.unwrap(BaseConnection.class), Oid.TIMESTAMPTZ_ARRAY, bytes);
    }

    /** What the database keeps of a time. */
    private static Instant kept(Instant time) {
        return Instant.EPOCH.plus(Columns.micros(time), ChronoUnit.MICROS);
    }

    /** One dimension from 1, then each element behind its length. */
    private static <T> byte[] binary(@Nullable T[] elements, int type, int length, BiConsumer<ByteBuffer, T> writeOne) {
        int nulls = 0;
        for (var element : elements) {
            nulls += element == null ? 1 : 0;
        }
        var bytes = ByteBuffer.allocate(
                HEADER_BYTES + elements.length * Integer.BYTES + (elements.length - nulls) * length);
        bytes.putInt(1)
                .putInt(nulls > 0 ? 1 : 0)
                .putInt(type)
                .putInt(elements.length)
                .putInt(1);
        for (var element : elements) {
            if (element == null) {
                bytes.putInt(NULL_LENGTH);
            } else {
                writeOne.accept(bytes.putInt(length), element);
            }
        }
        return bytes.array();
    }
}
