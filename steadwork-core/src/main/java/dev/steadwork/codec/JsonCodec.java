package dev.steadwork.codec;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.steadwork.Check;
import dev.steadwork.Codec;
import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The default codec: JSON by Jackson, UTF-8. A {@code byte[]} passes as it is, and so does a {@link Payload}. Errors
 * name types and places but never quote a value, which may be a secret.
 *
 * <p>Only the value is known when it is written, not the type it is declared with. So the type names that
 * {@code @JsonTypeInfo} asks for are written for a value and inside a record, but not for the elements of a bare list:
 *
 * <pre>{@code
 * return List.of(new Circle(1), new Square(2));             // bad: cannot be read back as List<Shape>
 * return new Drawing(List.of(new Circle(1), new Square(2))); // good: record Drawing(List<Shape> shapes)
 * }</pre>
 */
public final class JsonCodec implements Codec {
    private static final Pattern JSON =
            Pattern.compile("application/([\\w.-]+\\+)?json(; ?charset=utf-8)?", Pattern.CASE_INSENSITIVE);

    private final ObjectMapper mapper;
    /** Null if a mapper was given: it may write numbers in another way. */
    private final @Nullable PlainJson plain;

    /** Dates and durations as ISO text, unknown properties ignored, fractions never cut to whole numbers. */
    public JsonCodec() {
        this(defaultMapper(), new PlainJson());
    }

    /**
     * With the settings of a mapper that reads and writes JSON. The mapper is copied; the copy also learns Steadwork's
     * own types such as {@link dev.steadwork.RunId}.
     */
    public JsonCodec(ObjectMapper mapper) {
        this(mapper, null);
    }

    private JsonCodec(ObjectMapper mapper, @Nullable PlainJson plain) {
        var format = Check.notNull("mapper", mapper).getFactory().getFormatName();
        if (!"JSON".equals(format)) {
            throw new InvalidArgument("The mapper of a JsonCodec writes %s; it must write JSON.".formatted(format));
        }
        this.mapper = mapper.copy().registerModule(new SteadworkModule());
        this.plain = plain;
    }

    private static ObjectMapper defaultMapper() {
        // Buffers that threads share: the usual ones belong to a thread, and a virtual one would make them anew.
        var factory = JsonFactory.builder()
                .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                .build();
        return JsonMapper.builder(factory)
                .addModule(new Jdk8Module())
                .addModule(new JavaTimeModule())
                .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
                .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
    }

    @Override
    public Payload encode(@Nullable Object value) {
        if (value == null) {
            return Payload.NONE;
        }
        if (value instanceof Payload payload) {
            return payload;
        }
        if (value instanceof byte[] bytes) {
            return new Payload(bytes, Payload.BYTES);
        }
        var json = plain == null ? null : plain.encode(value);
        if (json == null) {
            json = write(value);
            checkReadable(json, value);
        }
        return new Payload(json, Payload.JSON);
    }

    /**
     * The value of a payload. {@code byte[]} gives the bytes of any payload, {@code Payload} the payload itself, and
     * {@code Object} what the content type suggests.
     */
    @Override
    @SuppressWarnings("unchecked")
    public <T> @Nullable T decode(Payload payload, TypeRef<T> type) {
        var target = type.type();
        if (payload.isNone() || target == Void.class) {
            return null;
        }
        if (target == Payload.class) {
            return (T) payload;
        }
        if (target == byte[].class || (target == Object.class && isBytes(payload))) {
            return (T) payload.bytes();
        }
        if (!isJson(payload)) {
            throw new Serialization(
                    "A payload of content type '%s' cannot be read as %s: JsonCodec reads %s. Use the codec that wrote it, or read it as byte[]."
                            .formatted(payload.contentType(), type, Payload.JSON),
                    null);
        }
        var value = plain == null ? null : plain.decode(payload.bytes(), target);
        return value == null ? read(payload.bytes(), type) : (T) value;
    }

    private static boolean isBytes(Payload payload) {
        return payload.contentType().equals(Payload.BYTES);
    }

    private static boolean isJson(Payload payload) {
        return payload.contentType().equals(Payload.JSON)
                || JSON.matcher(payload.contentType()).matches();
    }

    private byte[] write(Object value) {
        try {
            return mapper.writeValueAsBytes(value);
        } catch (IOException | RuntimeException | StackOverflowError problem) {
            throw JsonProblem.writing(value.getClass(), problem);
        }
    }

    /** Jackson writes a few things that it then refuses to read; better to know before they are stored. No plain number is. */
    private void checkReadable(byte[] json, Object value) {
        if (value instanceof Integer || value instanceof Long || value instanceof Boolean) {
            return;
        }
        try (var parser = mapper.createParser(json)) {
            while (parser.nextToken() != null) {
                parser.getText();
            }
        } catch (IOException problem) {
            throw JsonProblem.readingBack(value.getClass(), problem);
        }
    }

    private <T> @Nullable T read(byte[] json, TypeRef<T> type) {
        try {
            return mapper.readValue(json, mapper.constructType(type.type()));
        } catch (IOException | RuntimeException | StackOverflowError problem) {
            throw JsonProblem.reading(type, problem);
        }
    }
}
