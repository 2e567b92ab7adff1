package dev.steadwork;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Refuses bad values with their name, the value and what is allowed. For the packages of Steadwork itself. */
public final class Check {
    public static final int MAX_NAME_LENGTH = 255;

    /** Far longer than anyone waits, and well within what databases and timers can count. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private static final Instant EARLIEST = Instant.EPOCH;
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private Check() {}

    public static <T> T notNull(String what, @Nullable T value) {
        if (value == null) {
            throw new InvalidArgument(what + " must not be null.");
        }
        return value;
    }

    /** A name that people type and that ends up in keys: 1 to 255 characters, none of them a control character. */
    public static String name(String what, @Nullable String value) {
        var name = text(what, value);
        if (name.isBlank()) {
            throw new InvalidArgument(what + " must not be empty or blank.");
        }
        return name;
    }

    /** Like a name, but may be empty. */
    public static String text(String what, @Nullable String given) {
        var value = notNull(what, given);
        if (value.length() > MAX_NAME_LENGTH) {
            throw new InvalidArgument("%s has %d characters, at most %d are allowed: %s..."
                    .formatted(what, value.length(), MAX_NAME_LENGTH, value.substring(0, 40)));
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (Character.isISOControl(c)) {
                throw new InvalidArgument(
                        "%s contains the control character U+%04X at index %d; control characters are not allowed."
                                .formatted(what, (int) c, i));
            }
            if (isLoneSurrogate(value, i)) {
                throw new InvalidArgument(
                        "%s contains half of a surrogate pair (U+%04X) at index %d, which is not text."
                                .formatted(what, (int) c, i));
            }
        }
        return value;
    }

    private static boolean isLoneSurrogate(String value, int i) {
        char c = value.charAt(i);
        if (Character.isHighSurrogate(c)) {
            return i + 1 == value.length() || !Character.isLowSurrogate(value.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(value.charAt(i - 1)));
    }

    public static Duration notNegative(String what, @Nullable Duration given) {
        var value = notNull(what, given);
        if (value.isNegative()) {
            throw new InvalidArgument("%s is %s; it must not be negative.".formatted(what, value));
        }
        return notTooLong(what, value);
    }

    public static Duration positive(String what, @Nullable Duration given) {
        var value = notNull(what, given);
        if (value.isNegative() || value.isZero()) {
            throw new InvalidArgument("%s is %s; it must be more than zero.".formatted(what, value));
        }
        return notTooLong(what, value);
    }

    private static Duration notTooLong(String what, Duration value) {
        if (value.compareTo(LONGEST) > 0) {
            throw new InvalidArgument(
                    "%s is %s; at most %d days are allowed.".formatted(what, value, LONGEST.toDays()));
        }
        return value;
    }

    /** A time that every database can keep. */
    public static Instant time(String what, @Nullable Instant given) {
        var value = notNull(what, given);
        if (value.isBefore(EARLIEST) || value.isAfter(LATEST)) {
            throw new InvalidArgument("%s is %s; allowed is %s to %s.".formatted(what, value, EARLIEST, LATEST));
        }
        return value;
    }

    public static int positive(String what, int value) {
        if (value < 1) {
            throw new InvalidArgument("%s is %d; it must be at least 1.".formatted(what, value));
        }
        return value;
    }

    public static <T extends Collection<?>> T noNulls(String what, @Nullable T given) {
        var values = notNull(what, given);
        int index = 0;
        for (Object value : values) {
            notNull("%s[%d]".formatted(what, index++), value);
        }
        return values;
    }
}
