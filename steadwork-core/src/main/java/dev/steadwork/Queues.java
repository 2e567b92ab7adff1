package dev.steadwork;

import java.util.List;
import java.util.Map;

/** The queues of this namespace. Safe for use by several threads. */
public final class Queues {
    private final Source source;

    /** Where limits are kept and runs are counted. */
    public interface Source {
        void limit(String queue, QueueLimit limit);

        void unlimited(String queue);

        Map<String, QueueLimit> limits();

        List<QueueStats> stats();
    }

    Queues(Source source) {
        this.source = source;
    }

    /**
     * Limits what all workers together take from a queue, from now on and until it is changed: the limit is kept in the
     * database. Replaces an older limit of the queue.
     *
     * <p>Workers that did not know the queue as limited heed it from their next heartbeat on (10 s by default); a change of
     * a limit they know counts at once. Runs that execute already are not stopped, but they count.
     *
     * @throws InvalidArgument if the limit limits nothing; use {@link #unlimited}
     */
    public void limit(String queue, QueueLimit limit) {
        if (Check.notNull("limit", limit).isNone()) {
            throw new InvalidArgument(
                    "The limit of queue %s has no concurrency, no perKey and no rate; to take a limit away call unlimited(...)."
                            .formatted(queue));
        }
        source.limit(Check.name("queue", queue), limit);
    }

    /** Takes the limit of a queue away; without effect if it has none. */
    public void unlimited(String queue) {
        source.unlimited(Check.name("queue", queue));
    }

    /**
     * How much there is to do, by queue: those with runs that have not ended, and those of registered workflows. Costs a
     * short look at each queue, whatever has ended before, and stops counting at {@value QueueStats#COUNTED} runs.
     */
    public List<QueueStats> stats() {
        return source.stats();
    }

    /** What is limited, by queue. */
    public Map<String, QueueLimit> limits() {
        return source.limits();
    }
}
