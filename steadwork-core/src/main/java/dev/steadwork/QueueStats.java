package dev.steadwork;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much there is to do in a queue now. Only runs that have not ended are looked at, and of each kind at most {@value
 * #COUNTED}: a queue with a longer backlog has {@link #atLeast()}, and its true numbers may be larger.
 *
 * @param queue the queue
 * @param ready runs that wait for a worker
 * @param sleeping runs that wait for a time, a retry, a signal or a child
 * @param running runs that are being executed
 * @param paused runs that were paused
 * @param oldestReady for how long the oldest of the ready runs has been ready; null if there is none
 * @param atLeast whether there may be more than was counted
 * @param types the same by workflow
 */
public record QueueStats(
        String queue,
        long ready,
        long sleeping,
        long running,
        long paused,
        @Nullable Duration oldestReady,
        boolean atLeast,
        List<OfType> types) {
    /** How many runs of a queue and kind are counted at most. */
    public static final int COUNTED = 10_000;

    /** The runs of one workflow in the queue. */
    public record OfType(
            String type,
            long ready,
            long sleeping,
            long running,
            long paused,
            @Nullable Duration oldestReady) {}

    public QueueStats {
        types = List.copyOf(types);
    }

    /** All runs of the queue that have not ended. */
    public long depth() {
        return ready + sleeping + running + paused;
    }
}
