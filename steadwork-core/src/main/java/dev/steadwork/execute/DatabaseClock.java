package dev.steadwork.execute;

import dev.steadwork.store.Write;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The database's time, from one reading of it and the monotonic clock since: this host's own clock plays no part. */
public final class DatabaseClock {
    private final Instant reading;
    private final long readAtNanos;

    public DatabaseClock(Instant reading) {
        this.reading = reading;
        this.readAtNanos = System.nanoTime();
    }

    /** The time of a wake-up. */
    Instant at(Write.Wake wake) {
        if (wake.at() != null) {
            return wake.at();
        }
        return wake.after() == null ? Instant.MAX : now().plus(wake.after());
    }

    Instant now() {
        return reading.plusNanos(System.nanoTime() - readAtNanos).truncatedTo(ChronoUnit.MICROS);
    }
}
