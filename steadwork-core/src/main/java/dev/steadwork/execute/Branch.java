package dev.steadwork.execute;

import dev.steadwork.Promise;
import dev.steadwork.store.StepRecord;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A step that goes on beside its handler. */
final class Branch<T> implements Promise<T> {
    private final StepRecord.Key key;
    private final CompletableFuture<Kept<T>> outcome = new CompletableFuture<>();
    private final Function<Branch<T>, @Nullable T> await;
    private boolean awaited;

    Branch(StepRecord.Key key, Function<Branch<T>, @Nullable T> await) {
        this.key = key;
        this.await = await;
    }

    StepRecord.Key key() {
        return key;
    }

    /** Completes with the outcome, or with the suspension that the run must leave its handler by. */
    CompletableFuture<Kept<T>> outcome() {
        return outcome;
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
