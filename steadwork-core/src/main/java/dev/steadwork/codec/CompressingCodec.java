package dev.steadwork.codec;

import dev.steadwork.Check;
import dev.steadwork.Codec;
import dev.steadwork.Payload;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Compresses the payloads of another codec with gzip where that makes them smaller. A compressed payload has
 * {@code ; encoding=gzip} at the end of its content type, as in {@code application/json; encoding=gzip}; one without is
 * read as it is, so compression can be switched on at any time.
 *
 * <p>Compress before encrypting: {@code new EncryptingCodec(new CompressingCodec(new JsonCodec()), keys)}.
 */
public final class CompressingCodec implements Codec {
    /** Smaller payloads are not compressed unless told otherwise: 1 KiB. */
    public static final int DEFAULT_THRESHOLD = 1 << 10;
    /** No payload unpacks to more than this unless told otherwise: 64 MiB. */
    public static final int DEFAULT_MAX_UNPACKED = 64 << 20;

    private static final String SUFFIX = "; encoding=gzip";

    private final Codec inner;
    private final int threshold;
    private final int maxUnpacked;

    /** Compresses from 1 KiB on, and unpacks to 64 MiB at most. */
    public CompressingCodec(Codec inner) {
        this(inner, DEFAULT_THRESHOLD, DEFAULT_MAX_UNPACKED);
    }

    /**
     * Compresses payloads from {@code threshold} to {@code maxUnpacked} bytes; smaller and larger ones stay as they
     * are. A payload that would unpack to more than {@code maxUnpacked} bytes is refused before it fills the memory.
     */
    public CompressingCodec(Codec inner, int threshold, int maxUnpacked) {
        this.inner = Check.notNull("inner codec", inner);
        this.threshold = Check.positive("threshold", threshold);
        this.maxUnpacked = Check.positive("maxUnpacked", maxUnpacked);
    }

    @Override
    public Payload encode(@Nullable Object value) {
        var plain = inner.encode(value);
        if (plain.isNone() || isPacked(plain) || plain.size() < threshold || plain.size() > maxUnpacked) {
            return plain;
        }
        var packed = new Payload(pack(plain.bytes()), plain.contentType() + SUFFIX);
        return packed.size() < plain.size() ? packed : plain;
    }

    @Override
    public <T> @Nullable T decode(Payload payload, TypeRef<T> type) {
        return inner.decode(isPacked(payload) ? unpack(payload, type) : payload, type);
    }

    private static boolean isPacked(Payload payload) {
        return payload.contentType().endsWith(SUFFIX);
    }

    private static byte[] pack(byte[] bytes) {
        var packed = new ByteArrayOutputStream(bytes.length / 4);
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(bytes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return packed.toByteArray();
    }

    private Payload unpack(Payload packed, TypeRef<?> type) {
        var contentType = packed.contentType();
        try (var gzip = new GZIPInputStream(new ByteArrayInputStream(packed.bytes()))) {
            var plain = gzip.readNBytes(maxUnpacked);
            if (gzip.read() >= 0) {
                throw new Serialization(
                        "A payload of %d bytes of '%s' for %s unpacks to more than %d bytes. If it is meant to, raise maxUnpacked of CompressingCodec."
                                .formatted(packed.size(), contentType, type, maxUnpacked),
                        null);
            }
            return new Payload(plain, contentType.substring(0, contentType.length() - SUFFIX.length()));
        } catch (IOException broken) {
            throw new Serialization(
                    "A payload of '%s' for %s is not valid gzip: it was cut or changed.".formatted(contentType, type),
                    broken);
        }
    }
}
