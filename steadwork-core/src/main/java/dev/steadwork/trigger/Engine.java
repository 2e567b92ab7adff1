package dev.steadwork.trigger;

import dev.steadwork.InvalidState;
import dev.steadwork.codec.Payloads;
import dev.steadwork.execute.Opening;
import dev.steadwork.store.Committer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Store;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What triggers, handles and lists share: the store and how to speak to it.
 *
 * @param openings finds a slot in this process for a new run
 */
public record Engine(
        Store store,
        Committer committer,
        Payloads payloads,
        Results results,
        Function<NewRun, @Nullable Opening> openings,
        String namespace,
        AtomicBoolean closed) {

    /** The store, as long as the engine is open. */
    @Override
    public Store store() {
        checkOpen();
        return store;
    }

    @Override
    public Committer committer() {
        checkOpen();
        return committer;
    }

    @Override
    public Results results() {
        checkOpen();
        return results;
    }

    public void checkOpen() {
        if (closed.get()) {
            throw new InvalidState("This Steadwork is closed. Open a new one with Steadwork.open(...).");
        }
    }
}
