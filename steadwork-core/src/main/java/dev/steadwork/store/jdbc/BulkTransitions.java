package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.RunId;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The same transition of many runs in one transaction. A run that cannot make it is left as it is. */
final class BulkTransitions {
    private final Database database;

    /** One run's transition. It refuses a run before it has written anything. */
    @FunctionalInterface
    interface Transition {
        /** Whom to tell after the commit, or null if the run moved meanwhile. */
        @Nullable
        Runnable apply(Handle handle, RunId run);
    }

    BulkTransitions(Database database) {
        this.database = database;
    }

    /** Returns how many of the runs changed. */
    int apply(List<RunId> runs, Transition transition) {
        try {
            return applyTogether(runs, transition);
        } catch (Conflict keyTakenMeanwhile) {
            return runs.stream().mapToInt(run -> applyAlone(run, transition)).sum();
        }
    }

    private int applyAlone(RunId run, Transition transition) {
        try {
            return applyTogether(List.of(run), transition);
        } catch (Conflict leftAlone) {
            return 0;
        }
    }

    private int applyTogether(List<RunId> runs, Transition transition) {
        // In the order in which every statement locks runs, so that two never wait for each other.
        var ordered = runs.stream().sorted().toList();
        var effects = database.inTransaction(handle -> {
            var told = new ArrayList<Runnable>();
            for (var run : ordered) {
                var effect = effect(handle, run, transition);
                if (effect != Transitions.NO_EFFECT) {
                    told.add(effect);
                }
            }
            return told;
        });
        effects.forEach(Runnable::run);
        return effects.size();
    }

    /** What is to be told after the commit; {@link Transitions#NO_EFFECT} if the run cannot make the transition. */
    static Runnable effect(Handle handle, RunId run, Transition transition) {
        try {
            @Nullable Runnable effect;
            do {
                effect = transition.apply(handle, run);
            } while (effect == null);
            return effect;
        } catch (InvalidState | NotFound | Conflict leftAlone) {
            return Transitions.NO_EFFECT;
        }
    }
}
