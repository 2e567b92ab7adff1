package dev.steadwork.trigger;

import dev.steadwork.InvalidState;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.Committer;
import dev.steadwork.store.Store;
import java.util.concurrent.atomic.AtomicBoolean;

/** What triggers, handles and lists share: the store and how to speak to it. */
public record Engine(
        Store store, Committer committer, Payloads payloads, Results results, String namespace, AtomicBoolean closed) {

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
