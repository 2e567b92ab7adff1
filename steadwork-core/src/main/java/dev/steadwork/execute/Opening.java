package dev.steadwork.execute;

import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;

/** A slot of a worker in this process, kept for a run that is being created: one that would be claimed at once begins at once. */
public interface Opening extends AutoCloseable {
    Write.Starter starter();

    /** The run is created and held by the worker: executes it. */
    void start(TriggerResult.Started started);

    /** The slot is free again, unless a run was started in it. */
    @Override
    void close();
}
