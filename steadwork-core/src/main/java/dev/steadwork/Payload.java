package dev.steadwork;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A value as it is stored: opaque bytes and their content type. The engine never looks inside.
 *
 * @param bytes the bytes; not copied, do not change them
 * @param contentType what the bytes are; empty if there is no value at all
 */
public record Payload(byte[] bytes, String contentType) {
    /** No value: {@code null}, or an input that was not given. An empty value has a content type, this has none. */
    public static final Payload NONE = new Payload(new byte[0], "");

    /** The content type of the default codec. */
    public static final String JSON = "application/json";
    /** The content type of {@code byte[]} values. */
    public static final String BYTES = "application/octet-stream";

    public Payload {
        Check.notNull("payload bytes", bytes);
        Check.text("payload content type", contentType);
    }

    /** The number of bytes. */
    public int size() {
        return bytes.length;
    }

    /** Whether there is no value. */
    public boolean isNone() {
        return contentType.isEmpty();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Payload that
                && contentType.equals(that.contentType)
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * contentType.hashCode() + Arrays.hashCode(bytes);
    }

    /** The size and type; the text itself only for short JSON. */
    @Override
    public String toString() {
        if (contentType.equals(JSON) && bytes.length <= 200) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        return "%d bytes of %s".formatted(bytes.length, isNone() ? "nothing" : contentType);
    }
}
