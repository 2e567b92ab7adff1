package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidArgument;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Times as SQLite keeps them: microseconds since 1970, as integers. */
final class SqliteTime {
    private static final long MICROS = 1_000_000;

    private SqliteTime() {}

    /** The clock of the machine that the file is on, which is this one. */
    static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MICROS);
    }

    static long micros(Instant time) {
        try {
            return Math.addExact(Math.multiplyExact(time.getEpochSecond(), MICROS), time.getNano() / 1000);
        } catch (ArithmeticException e) {
            throw new InvalidArgument("The time %s is too far away to be stored.".formatted(time));
        }
    }

    static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, MICROS), Math.floorMod(micros, MICROS) * 1000);
    }

    /** A while after a time; the time itself if no while is given. */
    static Instant after(Instant time, @Nullable Duration delay) {
        try {
            return delay == null ? time : time.plus(delay).truncatedTo(ChronoUnit.MICROS);
        } catch (ArithmeticException | DateTimeException e) {
            throw new InvalidArgument("%s from now is too far away to be stored.".formatted(delay));
        }
    }
}
