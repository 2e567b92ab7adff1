package dev.steadwork.trigger;

import dev.steadwork.Page;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import org.jspecify.annotations.Nullable;

/** Pages through the runs of a namespace by id, newest first. */
public record RunLists(Engine engine) implements RunQuery.Source {
    @Override
    public Page<RunInfo> page(RunQuery.Filter filter, int size) {
        return page(filter, size, null);
    }

    private Page<RunInfo> page(RunQuery.Filter filter, int size, @Nullable RunId before) {
        var runs = engine.store().list(engine.namespace(), filter, before, size);
        if (runs.size() < size) {
            return new Page<>(runs, null);
        }
        var last = runs.get(runs.size() - 1).id();
        return new Page<>(runs, () -> page(filter, size, last));
    }

    @Override
    public long count(RunQuery.Filter filter) {
        return engine.store().count(engine.namespace(), filter);
    }
}
