package dev.steadwork.codec;

import dev.steadwork.Check;
import dev.steadwork.Codec;
import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.PayloadTooLarge;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Values to payloads within the limits: one size warns, a larger one is refused. */
public record Payloads(Codec codec, int warnBytes, int maxBytes) {
    public static final int DEFAULT_WARN_BYTES = 1 << 20;
    public static final int DEFAULT_MAX_BYTES = 2 << 20;

    private static final Logger log = LoggerFactory.getLogger(Payloads.class);

    public Payloads {
        Check.notNull("codec", codec);
        if (warnBytes < 1 || maxBytes < warnBytes) {
            throw new InvalidArgument(
                    "payloadLimits(%d, %d): the limits must be at least 1, and the warning not over the maximum."
                            .formatted(warnBytes, maxBytes));
        }
    }

    /** The payload of a value; the context (such as "input of checkout") is named in warnings and errors. */
    public Payload encode(String context, @Nullable Object value) {
        return checked(context, encoded(context, value));
    }

    private Payload encoded(String context, @Nullable Object value) {
        try {
            return codec.encode(value);
        } catch (Serialization problem) {
            throw new Serialization(context + ": " + problem.getMessage(), problem);
        }
    }

    /** Refuses a payload over the maximum and warns of a large one. */
    public Payload checked(String context, Payload payload) {
        if (payload.size() > maxBytes) {
            throw new PayloadTooLarge(context, payload.size(), maxBytes);
        }
        if (payload.size() > warnBytes) {
            log.warn(
                    "{} is {} bytes, over the warning size of {} bytes; consider external storage and a reference to it.",
                    context,
                    payload.size(),
                    warnBytes);
        }
        return payload;
    }

    public <T> @Nullable T decode(Payload payload, TypeRef<T> type) {
        return codec.decode(payload, type);
    }
}
