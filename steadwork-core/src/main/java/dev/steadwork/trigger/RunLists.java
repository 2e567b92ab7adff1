package dev.steadwork.trigger;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;

import dev.steadwork.Page;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.store.By;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Goes through the runs of a namespace by id, newest first: to show them, or to change them. */
public record RunLists(Engine engine, By asking) implements RunQuery.Source {
    /** Few enough that nobody waits long for a transaction that changes them. */
    private static final int BATCH = 100;

    public RunLists(Engine engine) {
        this(engine, By.NOBODY);
    }

    @Override
    public RunQuery.Source by(String actor, @Nullable String reason) {
        return new RunLists(engine, By.checked(actor, reason));
    }

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

    @Override
    public long cancelAll(RunQuery.Filter filter) {
        return changeAll(
                filter,
                EnumSet.of(PENDING, RUNNING, SLEEPING, PAUSED),
                engine.store().by(asking)::cancelAll);
    }

    @Override
    public long retryAll(RunQuery.Filter filter) {
        return changeAll(filter, EnumSet.of(FAILED, CANCELLED), engine.store().by(asking)::retryAll);
    }

    @Override
    public long deleteAll(RunQuery.Filter filter, String reason) {
        return changeAll(
                filter,
                EnumSet.allOf(RunStatus.class),
                runs -> engine.store().by(asking).deleteAll(runs, reason));
    }

    /** Runs in other statuses cannot change, and there may be millions of them: they are not even looked at. */
    private long changeAll(RunQuery.Filter filter, Set<RunStatus> changeable, ToIntFunction<List<RunId>> change) {
        if (!filter.statuses().isEmpty()) {
            changeable.retainAll(filter.statuses());
        }
        return changeable.isEmpty() ? 0 : changeEach(filter.in(changeable), change);
    }

    private long changeEach(RunQuery.Filter filter, ToIntFunction<List<RunId>> change) {
        long changed = 0;
        @Nullable RunId before = null;
        while (true) {
            var batch = engine.store().listIds(engine.namespace(), filter, before, BATCH);
            if (!batch.isEmpty()) {
                changed += change.applyAsInt(batch);
                before = batch.get(batch.size() - 1);
            }
            if (batch.size() < BATCH) {
                return changed;
            }
        }
    }
}
