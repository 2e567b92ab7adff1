package dev.steadwork.trigger;

import dev.steadwork.QueueLimit;
import dev.steadwork.QueueStats;
import dev.steadwork.Queues;
import java.util.List;
import java.util.Map;

/** The queues of a namespace: their limits, and how much there is to do. */
public record StoredQueues(Engine engine) implements Queues.Source {
    @Override
    public void limit(String queue, QueueLimit limit) {
        engine.store().limit(engine.namespace(), queue, limit);
    }

    @Override
    public void unlimited(String queue) {
        engine.store().unlimit(engine.namespace(), queue);
    }

    @Override
    public Map<String, QueueLimit> limits() {
        return engine.store().limits(engine.namespace());
    }

    @Override
    public List<QueueStats> stats() {
        return engine.store().queueStats(engine.namespace());
    }
}
