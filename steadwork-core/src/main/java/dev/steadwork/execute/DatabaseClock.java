package dev.steadwork.execute;

import dev.steadwork.store.Write;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The database's time, from one reading of it and the monotonic clock since: this host's own clock plays no part. */
public final class DatabaseClock {
    private final Instant reading;
    private final long askedAtNanos;
    private final long readAtNanos;

    /** @param askedAtNanos when the database was asked for the reading, by the monotonic clock */
    public DatabaseClock(Instant reading, long askedAtNanos) {
        this.reading = reading;
        this.askedAtNanos = askedAtNanos;
        this.readAtNanos = System.nanoTime();
    }

    /** The time of a wake-up: not before it was asked for, however long the reading was on its way. */
    Instant at(Write.Wake wake) {
        if (wake.at() != null) {
            return wake.at();
        }
        return wake.after() == null ? Instant.MAX : since(askedAtNanos).plus(wake.after());
    }

    Instant now() {
        return since(readAtNanos);
    }

    private Instant since(long nanos) {
        return reading.plusNanos(System.nanoTime() - nanos).truncatedTo(ChronoUnit.MICROS);
    }
}
