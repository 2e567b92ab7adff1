package dev.steadwork.codec;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import com.fasterxml.jackson.databind.exc.InvalidTypeIdException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says in our own words what Jackson could not do, because its messages quote the value, which may be a secret. */
final class JsonProblem {
    private static final int SHOWN_PATH = 8;

    private JsonProblem() {}

    static Serialization writing(Class<?> type, Throwable problem) {
        var reason = reasonOfWriting(unwrapped(problem));
        return new Serialization(
                "%s cannot be written as JSON%s: %s.".formatted(type.getTypeName(), place(problem), reason),
                thrownByUserCode(problem));
    }

    static Serialization reading(TypeRef<?> type, Throwable problem) {
        var reason = reasonOfReading(unwrapped(problem));
        return new Serialization(
                "%s cannot be read from JSON%s: %s.".formatted(type, place(problem), reason),
                thrownByUserCode(problem));
    }

    static Serialization readingBack(Class<?> type, IOException problem) {
        return new Serialization(
                "%s cannot be written as JSON, because it could not be read back: %s. Look for half of a surrogate pair in a key, or raw JSON."
                        .formatted(type.getTypeName(), reasonOfReading(problem)),
                null);
    }

    private static String reasonOfWriting(Throwable problem) {
        if (problem instanceof StackOverflowError || problem instanceof StreamConstraintsException) {
            return "it contains itself or is nested too deeply; refer to it by an id, or leave one direction out with @JsonIgnore";
        }
        if (problem instanceof InvalidDefinitionException definition) {
            var type = definition.getType().getRawClass();
            return isOfJava(type)
                    ? unknownToJackson(type)
                    : name(type) + " has no properties that JSON can see, or contains itself: use a record";
        }
        return thrown(problem);
    }

    private static String reasonOfReading(Throwable problem) {
        if (problem instanceof StackOverflowError) {
            return "it is nested too deeply";
        }
        if (problem instanceof StreamConstraintsException limit) {
            return limit.getOriginalMessage() + "; to allow it, give JsonCodec an ObjectMapper with other constraints";
        }
        if (problem instanceof ValueInstantiationException refused && refused.getCause() != null) {
            return "the constructor of %s threw %s"
                    .formatted(
                            refused.getType().toCanonical(),
                            name(refused.getCause().getClass()));
        }
        if (problem instanceof InvalidDefinitionException definition) {
            return missingConstructor(definition.getType().getRawClass());
        }
        if (problem instanceof InvalidTypeIdException unknown) {
            return "it does not name a known subtype of %s; elements of a bare list are written without their type names: put the list into a record"
                    .formatted(unknown.getBaseType().toCanonical());
        }
        if (problem instanceof InputCoercionException number) {
            return "a number does not fit into " + name(number.getTargetType());
        }
        if (problem instanceof MismatchedInputException mismatch) {
            return "the JSON there does not fit " + name(mismatch.getTargetType());
        }
        if (problem instanceof JsonProcessingException syntax) {
            return "it is not valid JSON" + position(syntax.getLocation());
        }
        return problem instanceof IOException ? "it is not valid JSON" : thrown(problem);
    }

    private static String missingConstructor(Class<?> type) {
        if (isOfJava(type)) {
            return unknownToJackson(type);
        }
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            return name(type)
                    + " is abstract, and JSON does not say which subtype it is: use a record, or annotate it with @JsonTypeInfo and @JsonSubTypes";
        }
        if (type.getEnclosingClass() != null && !Modifier.isStatic(type.getModifiers())) {
            return name(type) + " belongs to an instance of another class: make it static, or use a record";
        }
        return name(type) + " has no default constructor: use a record";
    }

    private static boolean isOfJava(Class<?> type) {
        return type.getName().startsWith("java.");
    }

    private static String unknownToJackson(Class<?> type) {
        return "Jackson does not know %s: use another type, or give JsonCodec an ObjectMapper with a module for it"
                .formatted(name(type));
    }

    private static String thrown(Throwable problem) {
        return name(problem.getClass()) + " was thrown";
    }

    private static String name(@Nullable Type type) {
        return type == null ? "the type" : type.getTypeName();
    }

    private static String position(@Nullable JsonLocation location) {
        return location == null ? "" : " (line %d, column %d)".formatted(location.getLineNr(), location.getColumnNr());
    }

    /** The way to the value in question; keys of maps are values too and are not shown. */
    private static String place(Throwable problem) {
        if (!(problem instanceof JsonMappingException mapping)
                || mapping.getPath().isEmpty()) {
            return "";
        }
        var place = new StringBuilder();
        for (var step : mapping.getPath()
                .subList(0, Math.min(SHOWN_PATH, mapping.getPath().size()))) {
            if (isMap(step.getFrom())) {
                place.append("[*]");
            } else if (step.getFieldName() == null) {
                place.append('[').append(step.getIndex()).append(']');
            } else {
                place.append(place.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        return " at " + place + (mapping.getPath().size() > SHOWN_PATH ? "..." : "");
    }

    private static boolean isMap(@Nullable Object from) {
        return from instanceof Map || (from instanceof Class<?> type && Map.class.isAssignableFrom(type));
    }

    private static Throwable unwrapped(Throwable problem) {
        var cause = problem.getCause();
        return problem.getClass() == JsonMappingException.class && cause != null ? unwrapped(cause) : problem;
    }

    private static @Nullable Throwable thrownByUserCode(Throwable problem) {
        var found = unwrapped(problem);
        if (found instanceof ValueInstantiationException) {
            return found.getCause() == null ? null : new WithoutMessage(found.getCause());
        }
        return found instanceof RuntimeException ? new WithoutMessage(found) : null;
    }

    /** The stack trace of an exception without its message, which may quote the value. */
    private static final class WithoutMessage extends Exception {
        WithoutMessage(Throwable original) {
            super(original.getClass().getName() + " (its message may quote the value and is left out)");
            setStackTrace(original.getStackTrace());
        }
    }
}
