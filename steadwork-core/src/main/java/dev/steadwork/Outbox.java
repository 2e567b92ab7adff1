package dev.steadwork;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The events of this namespace that are on their way out, or did not make it. Safe for use by several threads. */
public final class Outbox {
    private final Source source;

    /** Where the events are kept. */
    public interface Source {
        Stats stats();

        List<DeadEvent> dead(int limit);

        long redrive(@Nullable Long number);
    }

    /**
     * How it stands.
     *
     * @param waiting events that are to be published
     * @param dead events that were given up
     * @param oldestWaiting when the oldest of those that wait happened; null if none does
     */
    public record Stats(long waiting, long dead, @Nullable Instant oldestWaiting) {}

    /**
     * An event that was given up.
     *
     * @param failures how often it was tried in vain
     * @param error why it failed last
     * @param since when it was given up
     */
    public record DeadEvent(OutboxEvent event, int failures, String error, Instant since) {}

    Outbox(Source source) {
        this.source = source;
    }

    /** How many events wait and how many were given up. */
    public Stats stats() {
        return source.stats();
    }

    /** The oldest events that were given up, at most this many (1 to 1000). */
    public List<DeadEvent> dead(int limit) {
        if (limit < 1 || limit > 1000) {
            throw new InvalidArgument("limit is %d; allowed is 1 to 1000.".formatted(limit));
        }
        return source.dead(limit);
    }

    /**
     * Publishes an event that was given up after all, with all its attempts again. Events of its run that followed it may have
     * gone out before.
     *
     * @throws NotFound if no such event was given up
     */
    public void redrive(long number) {
        if (source.redrive(number) == 0) {
            throw new NotFound("No event %d was given up. outbox().dead(...) lists those that were.".formatted(number));
        }
    }

    /** Publishes all events that were given up after all, and returns how many they are. */
    public long redriveAll() {
        return source.redrive(null);
    }
}
