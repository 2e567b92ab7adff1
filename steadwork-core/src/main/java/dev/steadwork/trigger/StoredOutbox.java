package dev.steadwork.trigger;

import dev.steadwork.Outbox;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outbox of a namespace. */
public record StoredOutbox(Engine engine) implements Outbox.Source {
    @Override
    public Outbox.Stats stats() {
        return engine.store().outboxStats(engine.namespace());
    }

    @Override
    public List<Outbox.DeadEvent> dead(int limit) {
        return engine.store().deadEvents(engine.namespace(), limit);
    }

    @Override
    public long redrive(@Nullable Long number) {
        return engine.store().redrive(engine.namespace(), number);
    }
}
