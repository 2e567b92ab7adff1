package dev.steadwork.trigger;

import dev.steadwork.QueueLimit;
import dev.steadwork.Queues;
import java.util.Map;

/** The limits of a namespace's queues. */
public record StoredLimits(Engine engine) implements Queues.Source {
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
}
