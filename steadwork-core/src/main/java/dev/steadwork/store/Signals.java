package dev.steadwork.store;

import dev.steadwork.RunId;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Hints that something happened, from this process and, where the database can tell, from others. A hint may be lost,
 * repeated or false: whoever hears one looks at the database.
 */
public final class Signals {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    /** Hears hints; must return at once and not throw. */
    public interface Listener {
        /** Runs may be ready, or a timer due sooner than thought, in a queue with this topic. */
        default void ready(int topic) {}

        /** A run with this hash may have ended. */
        default void ended(int runHash) {}

        /** Something may have been asked of a run, or of a worker, with this hash. */
        default void requested(int hash) {}

        /** The settings of a namespace may have changed. */
        default void settings() {}

        /** A schedule of the namespace with this hash may be due sooner than thought. */
        default void scheduled(int namespaceHash) {}

        /** Events may have been recorded by this process. */
        default void recorded() {}

        /** Any hint may have been lost: look at everything. */
        default void gap() {}
    }

    /** Ends a subscription. */
    @FunctionalInterface
    public interface Subscription extends AutoCloseable {
        @Override
        void close();
    }

    public Subscription subscribe(Listener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    public void ready(Collection<Integer> topics) {
        for (var listener : listeners) {
            topics.forEach(listener::ready);
        }
    }

    public void ended(Collection<Integer> runHashes) {
        for (var listener : listeners) {
            runHashes.forEach(listener::ended);
        }
    }

    public void requested(int hash) {
        listeners.forEach(listener -> listener.requested(hash));
    }

    public void recorded() {
        listeners.forEach(Listener::recorded);
    }

    public void settings() {
        listeners.forEach(Listener::settings);
    }

    public void scheduled(int namespaceHash) {
        listeners.forEach(listener -> listener.scheduled(namespaceHash));
    }

    public void gap() {
        listeners.forEach(Listener::gap);
    }

    /** The topic of a queue: the same in every process. */
    public static int topic(String namespace, String queue) {
        return 31 * namespace.hashCode() + queue.hashCode();
    }

    /** The hash of a run: the same in every process. */
    public static int hash(RunId run) {
        return run.uuid().hashCode();
    }

    /** The hash of a worker: the same in every process. */
    public static int hash(String namespace, String workerId) {
        return 31 * namespace.hashCode() + workerId.hashCode();
    }
}
