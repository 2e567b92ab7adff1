package dev.steadwork.execute;

import dev.steadwork.Promise;
import dev.steadwork.store.StepRecord;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A step that goes on beside its handler, or a child that goes on as a run of its own. */
final class Branch<T> implements Promise<T> {
    private final StepRecord.Key key;
    private final boolean isChild;
    private final CompletableFuture<Kept<T>> outcome = new CompletableFuture<>();
    private final Function<Branch<T>, @Nullable T> await;
    private @Nullable Thread runner;
    private boolean awaited;

    Branch(StepRecord.Key key, boolean isChild, Function<Branch<T>, @Nullable T> await) {
        this.key = key;
        this.isChild = isChild;
        this.await = await;
    }

    StepRecord.Key key() {
        return key;
    }

    boolean isChild() {
        return isChild;
    }

    /**
     * Completes with the outcome, or with the suspension that the run must leave its handler by: to wait for the next attempt,
     * or for the child.
     */
    CompletableFuture<Kept<T>> outcome() {
        return outcome;
    }

    /** What the run must leave its handler by if it needs this branch; null if it need not. */
    @Nullable
    Suspension suspension() {
        if (!outcome.isCompletedExceptionally()) {
            return null;
        }
        return outcome.<@Nullable Suspension>handle(
                        (kept, failure) -> failure instanceof Suspension asked ? asked : null)
                .join();
    }

    /** Completes it with the outcome of its step, whatever that is; not at all if it was cancelled before. */
    void complete(Supplier<Kept<T>> step) {
        if (!begin()) {
            return;
        }
        try {
            outcome.complete(step.get());
        } catch (Throwable ended) {
            outcome.completeExceptionally(ended);
        } finally {
            end();
        }
    }

    private synchronized boolean begin() {
        if (outcome.isDone()) {
            return false;
        }
        runner = Thread.currentThread();
        return true;
    }

    private synchronized void end() {
        runner = null;
        Thread.interrupted(); // was meant for the step, and not for the thread's next task
    }

    /** Interrupts it, or if it has not begun keeps it from beginning. */
    synchronized void cancel() {
        if (runner != null) {
            runner.interrupt();
        } else {
            outcome.completeExceptionally(new CancellationException("Step %s was not begun.".formatted(key.label())));
        }
    }

    /** There is nothing to wait for. */
    void refuse(RuntimeException refusal) {
        markAwaited();
        outcome.obtrudeException(refusal);
    }

    boolean isAwaited() {
        return awaited;
    }

    void markAwaited() {
        awaited = true;
    }

    @Override
    public @Nullable T get() {
        return await.apply(this);
    }
}
