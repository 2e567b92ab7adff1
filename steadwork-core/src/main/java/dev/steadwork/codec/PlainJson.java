package dev.steadwork.codec;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Whole numbers and truth values, which many steps return, without a parser and its buffers: the same bytes and values as Jackson's,
 * or nothing, and then Jackson is to be asked.
 */
final class PlainJson {
    /** A long has up to 19; with fewer nothing can overflow. */
    private static final int MOST_DIGITS = 18;

    byte @Nullable [] encode(Object value) {
        return value instanceof Integer || value instanceof Long || value instanceof Boolean
                ? value.toString().getBytes(StandardCharsets.ISO_8859_1)
                : null;
    }

    @Nullable
    Object decode(byte[] json, Type target) {
        if (target != Long.class && target != Integer.class) {
            return null;
        }
        boolean negative = json.length > 0 && json[0] == '-';
        int first = negative ? 1 : 0;
        int digits = json.length - first;
        if (digits < 1 || digits > MOST_DIGITS || (json[first] == '0' && json.length > 1)) {
            return null;
        }
        long number = 0;
        for (int i = first; i < json.length; i++) {
            int digit = json[i] - '0';
            if (digit < 0 || digit > 9) {
                return null;
            }
            number = 10 * number + digit;
        }
        return boxed(negative ? -number : number, target);
    }

    private static @Nullable Object boxed(long number, Type target) {
        if (target == Long.class) {
            return number;
        }
        return number == (int) number ? (Object) (int) number : null;
    }
}
