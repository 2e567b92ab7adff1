package dev.steadwork.execute;

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

    Instant now() {
        return reading.plusNanos(System.nanoTime() - readAtNanos).truncatedTo(ChronoUnit.MICROS);
    }
}
