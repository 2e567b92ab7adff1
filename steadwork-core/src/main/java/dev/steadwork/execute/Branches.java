package dev.steadwork.execute;

import dev.steadwork.StepStatus;
import dev.steadwork.store.Write;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What goes on beside a handler. Belongs to the handler's thread. */
final class Branches {
    /** How many items of a map are worked on at once. */
    private static final int MAX_PARALLEL = 16;

    private final ExecutorService threads;
    private final Set<Branch<?>> all = new LinkedHashSet<>();

    Branches(ExecutorService threads) {
        this.threads = threads;
    }

    void add(Branch<?> branch) {
        all.add(branch);
    }

    Set<Branch<?>> all() {
        return all;
    }

    boolean has(Branch<?> branch) {
        return all.contains(branch);
    }

    <T> void start(Branch<T> branch, Supplier<Kept<T>> step) {
        startBounded(List.of(branch), List.of(() -> branch.complete(step)));
    }

    /** Works on many branches, a few at a time, in their order. */
    void startBounded(List<? extends Branch<?>> branches, List<Runnable> work) {
        Queue<Runnable> open = new ConcurrentLinkedQueue<>(work);
        try {
            for (int i = 0; i < Math.min(MAX_PARALLEL, work.size()); i++) {
                threads.execute(() -> {
                    for (var next = open.poll(); next != null; next = open.poll()) {
                        next.run();
                    }
                });
            }
        } catch (RuntimeException | Error noThread) {
            branches.forEach(Branch::cancel);
            throw noThread;
        }
    }

    /** Whether no step beside the handler goes on or waits for its next attempt. */
    boolean haveEnded() {
        return steps().stream()
                .allMatch(
                        branch -> branch.outcome().isDone() && !branch.outcome().isCompletedExceptionally());
    }

    private List<Branch<?>> steps() {
        return all.stream().filter(branch -> !branch.isChild()).toList();
    }

    @Nullable
    Branch<?> neverAwaited() {
        return all.stream().filter(branch -> !branch.isAwaited()).findFirst().orElse(null);
    }

    /** Waits until all of them have ended, in whatever way. */
    static void await(Collection<? extends Branch<?>> branches) throws InterruptedException {
        var ends = branches.stream()
                .map(branch -> branch.outcome().handle((kept, failure) -> true))
                .toArray(CompletableFuture[]::new);
        await(CompletableFuture.allOf(ends));
    }

    /** Waits until one of them has completed, or all have ended otherwise. */
    static void awaitFirstSuccess(List<? extends Branch<?>> branches) throws InterruptedException {
        var decided = new CompletableFuture<Boolean>();
        var ends = new ArrayList<CompletableFuture<?>>();
        for (var branch : branches) {
            ends.add(branch.outcome().handle((kept, failure) -> isSuccess(branch) && decided.complete(true)));
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).thenRun(() -> decided.complete(false));
        await(decided);
    }

    private static void await(CompletableFuture<?> end) throws InterruptedException {
        try {
            end.get();
        } catch (ExecutionException impossible) {
            throw new AssertionError(impossible);
        }
    }

    static boolean isSuccess(Branch<?> branch) {
        var outcome = branch.outcome();
        return outcome.isDone()
                && !outcome.isCompletedExceptionally()
                && outcome.join().step().status() == StepStatus.COMPLETED;
    }

    /**
     * Waits for the steps that go on. If one of them leaves because the run is to be paused or handed back, that is what
     * happens; otherwise a parked run wakes at the earliest time that it or one of them asks for.
     */
    Suspension settle(Suspension leave, DatabaseClock clock) throws InterruptedException {
        var steps = steps();
        await(steps);
        var merged = leave;
        for (var step : steps) {
            var asked = step.suspension();
            if (asked == null || !(merged.write() instanceof Write.Park park)) {
                continue;
            }
            if (!(asked.write() instanceof Write.Park retry)) {
                return asked;
            }
            if (clock.at(retry.wake()).isBefore(clock.at(park.wake()))) {
                merged = new Suspension(park.wakingAt(retry.wake()));
            }
        }
        return merged;
    }

    void interrupt() {
        steps().stream().filter(branch -> !branch.outcome().isDone()).forEach(Branch::cancel);
    }

    /** Waits until all steps have ended, in whatever way. */
    void awaitEnd() throws InterruptedException {
        await(steps());
    }
}
