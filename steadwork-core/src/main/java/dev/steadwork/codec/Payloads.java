package dev.steadwork.codec;

import dev.steadwork.Check;
import dev.steadwork.Codec;
import dev.steadwork.Payload;
import dev.steadwork.PayloadLimits;
import dev.steadwork.PayloadTooLarge;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Values to payloads within the limits: one size warns, a larger one is refused. */
public record Payloads(Codec codec, Supplier<PayloadLimits> limits) {
    public static final int DEFAULT_WARN_BYTES = 1 << 20;
    public static final int DEFAULT_MAX_BYTES = 2 << 20;

    private static final Logger log = LoggerFactory.getLogger(Payloads.class);

    public Payloads {
        Check.notNull("codec", codec);
    }

    public Payloads(Codec codec, int warnBytes, int maxBytes) {
        this(codec, always(new PayloadLimits(warnBytes, maxBytes)));
    }

    private static Supplier<PayloadLimits> always(PayloadLimits limits) {
        return () -> limits;
    }

    /** The same, but within these limits whenever there are some. */
    public Payloads within(Supplier<@Nullable PayloadLimits> others) {
        return new Payloads(codec, () -> {
            var other = others.get();
            return other == null ? limits.get() : other;
        });
    }

    /** The payload of a value; the context (such as "input of checkout") is named in warnings and errors. */
    public Payload encode(String context, @Nullable Object value) {
        return encode(() -> context, value);
    }

    public Payload encode(Supplier<String> context, @Nullable Object value) {
        return checked(context, encoded(context, value));
    }

    private Payload encoded(Supplier<String> context, @Nullable Object value) {
        try {
            return codec.encode(value);
        } catch (Serialization problem) {
            throw new Serialization(context.get() + ": " + problem.getMessage(), problem);
        }
    }

    /** Refuses a payload over the maximum and warns of a large one. */
    public Payload checked(String context, Payload payload) {
        return checked(() -> context, payload);
    }

    private Payload checked(Supplier<String> context, Payload payload) {
        var allowed = limits.get();
        if (payload.size() > allowed.maxBytes()) {
            throw new PayloadTooLarge(context.get(), payload.size(), allowed.maxBytes());
        }
        if (payload.size() > allowed.warnBytes()) {
            log.warn(
                    "{} is {} bytes, over the warning size of {} bytes; consider external storage and a reference to it.",
                    context.get(),
                    payload.size(),
                    allowed.warnBytes());
        }
        return payload;
    }

    public <T> @Nullable T decode(Payload payload, TypeRef<T> type) {
        return codec.decode(payload, type);
    }
}
