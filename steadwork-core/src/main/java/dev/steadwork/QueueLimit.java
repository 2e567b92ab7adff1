package dev.steadwork;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What all workers together may take from a queue. Immutable; parts that are not given limit nothing.
 *
 * <pre>{@code
 * QueueLimit.concurrency(10)                                          // ten runs at once, wherever they execute
 * QueueLimit.concurrency(10).perKey(2)                                // and two of one customer
 * QueueLimit.none().rate(100, Duration.ofMinutes(1))                  // a hundred starts in any minute
 * }</pre>
 *
 * A run counts while it is RUNNING: one that sleeps, waits for a retry or is paused leaves its place to others. A worker
 * that dies gives its places back when its leases end.
 *
 * @param concurrency how many runs execute at once, at least 1; null if any number may
 * @param perKey how many runs of one {@link TriggerOptions#concurrencyKey concurrencyKey} execute at once, at least 1;
 *     null if any number may
 * @param rate how many runs start within a period; null if any number may
 */
public record QueueLimit(
        @Nullable Integer concurrency,
        @Nullable Integer perKey,
        @Nullable Rate rate) {

    private static final QueueLimit NONE = new QueueLimit(null, null, null);

    /**
     * So many starts in any span of time of this length, wherever one lets it begin.
     *
     * @param starts how often runs are handed to workers, at least 1; a run that goes on after a sleep or a retry is handed
     *     out again, and counts again
     * @param period from 1 ms to 36,500 days
     */
    public record Rate(int starts, Duration period) {
        private static final Duration SHORTEST = Duration.ofMillis(1);

        public Rate {
            Check.positive("rate starts", starts);
            Check.positive("rate period", period);
            if (period.compareTo(SHORTEST) < 0) {
                throw new InvalidArgument("rate period is %s; it must be at least 1 ms.".formatted(period));
            }
        }
    }

    public QueueLimit {
        if (concurrency != null) {
            Check.positive("concurrency", concurrency);
        }
        if (perKey != null) {
            Check.positive("perKey", perKey);
        }
    }

    /** Limits nothing yet. */
    public static QueueLimit none() {
        return NONE;
    }

    /** At most so many runs of the queue execute at once. */
    public static QueueLimit concurrency(int runs) {
        return new QueueLimit(runs, null, null);
    }

    /**
     * And at most so many of one {@link TriggerOptions#concurrencyKey concurrencyKey}. Keys take turns: within a key, the
     * best run goes first; between keys, priorities play no part, and a key with a long backlog does not delay the others.
     */
    public QueueLimit perKey(int runs) {
        return new QueueLimit(concurrency, runs, rate);
    }

    /** And at most so many starts in any span of this length. */
    public QueueLimit rate(int starts, Duration period) {
        return new QueueLimit(concurrency, perKey, new Rate(starts, period));
    }

    /** Whether it limits nothing at all. */
    public boolean isNone() {
        return equals(NONE);
    }
}
