package dev.steadwork.maintain;

import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Fires schedules when their time comes, and slots that wait for a run when it has ended. Nothing fires while the namespace is
 * disabled; what was missed is caught up as after any other absence.
 */
public final class Scheduler implements Duty.Work {
    public static final String NAME = "schedules";

    private static final int BATCH = 50;

    /** Somebody else is firing what is due. */
    private static final Duration BUSY = Duration.ofMillis(50);

    private final Store store;
    private final String namespace;
    private final SlotPlanner planner = new SlotPlanner();
    private volatile Set<Integer> awaited = Set.of();

    public Scheduler(Store store, String namespace) {
        this.store = store;
        this.namespace = namespace;
    }

    @Override
    public @Nullable Duration work() {
        if (store.settings(namespace).isDisabled()) {
            return null;
        }
        var outlook = store.schedules().outlook(namespace);
        if (outlook.isDue()) {
            return store.schedules().fire(namespace, planner, BATCH) > 0 ? Duration.ZERO : BUSY;
        }
        var runs = outlook.awaited().stream().map(Signals::hash).collect(Collectors.toSet());
        if (awaited.containsAll(runs)) {
            awaited = runs;
            return outlook.untilNext();
        }
        // One of them may have ended before it was listened for.
        awaited = runs;
        return Duration.ZERO;
    }

    /** Hears of what makes it worth to look. */
    public Signals.Listener listener(Runnable wake) {
        return new Signals.Listener() {
            @Override
            public void scheduled(int namespaceHash) {
                if (namespaceHash == namespace.hashCode()) {
                    wake.run();
                }
            }

            @Override
            public void ended(int runHash) {
                if (awaited.contains(runHash)) {
                    wake.run();
                }
            }

            @Override
            public void settings() {
                wake.run();
            }

            @Override
            public void gap() {
                wake.run();
            }
        };
    }
}
