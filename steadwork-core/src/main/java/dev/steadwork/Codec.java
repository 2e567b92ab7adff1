package dev.steadwork;

import org.jspecify.annotations.Nullable;

/**
 * Turns values into payloads and back. The default is JSON by Jackson, with {@code byte[]} passed as it is. Codecs are
 * used by many threads at once. Every process that reads a payload needs a codec that understands its content type.
 */
public interface Codec {
    /** The payload of a value; {@link Payload#NONE} for {@code null}. Throws {@link Serialization} if it cannot. */
    Payload encode(@Nullable Object value);

    /** The value of a payload; {@code null} for {@link Payload#NONE}. Throws {@link Serialization} if it cannot. */
    <T> @Nullable T decode(Payload payload, TypeRef<T> type);
}
