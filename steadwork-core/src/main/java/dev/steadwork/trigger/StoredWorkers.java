package dev.steadwork.trigger;

import dev.steadwork.NotFound;
import dev.steadwork.Page;
import dev.steadwork.WorkerInfo;
import dev.steadwork.Workers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The workers of a namespace as they are registered. */
public record StoredWorkers(Engine engine) implements Workers.Source {
    @Override
    public List<WorkerInfo> list(Workers.Filter filter) {
        return engine.store().workers(engine.namespace(), filter, null, Integer.MAX_VALUE);
    }

    @Override
    public Page<WorkerInfo> page(Workers.Filter filter, int size) {
        return page(filter, size, null);
    }

    private Page<WorkerInfo> page(Workers.Filter filter, int size, @Nullable String after) {
        var workers = engine.store().workers(engine.namespace(), filter, after, size);
        if (workers.size() < size) {
            return new Page<>(workers, null);
        }
        var last = workers.get(workers.size() - 1).id();
        return new Page<>(workers, () -> page(filter, size, last));
    }

    @Override
    public long count(Workers.Filter filter) {
        return engine.store().countWorkers(engine.namespace(), filter);
    }

    @Override
    public void drain(String workerId) {
        found(workerId, engine.store().drainWorker(engine.namespace(), workerId));
    }

    @Override
    public void resume(String workerId) {
        found(workerId, engine.store().resumeWorker(engine.namespace(), workerId));
    }

    @Override
    public void deregister(String workerId) {
        found(workerId, engine.store().deregisterWorker(engine.namespace(), workerId));
    }

    private void found(String workerId, boolean found) {
        if (!found) {
            throw new NotFound("There is no worker %s in namespace %s. workers().list() shows those there are."
                    .formatted(workerId, engine.namespace()));
        }
    }
}
