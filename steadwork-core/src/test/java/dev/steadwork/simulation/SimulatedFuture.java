package dev.steadwork.simulation;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A future whose waits give the turn away. */
public final class SimulatedFuture<T> extends CompletableFuture<T> {
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new SimulatedFuture<>();
    }

    public static CompletableFuture<Void> allOf(CompletableFuture<?>... futures) {
        return simulated(CompletableFuture.allOf(futures));
    }

    public static CompletableFuture<Object> anyOf(CompletableFuture<?>... futures) {
        return simulated(CompletableFuture.anyOf(futures));
    }

    public static <U> CompletableFuture<U> failedFuture(Throwable failure) {
        return simulated(CompletableFuture.failedFuture(failure));
    }

    public static <U> CompletableFuture<U> completedFuture(U value) {
        return simulated(CompletableFuture.completedFuture(value));
    }

    private static <U> CompletableFuture<U> simulated(CompletableFuture<U> future) {
        var simulated = new SimulatedFuture<U>();
        future.whenComplete((value, failure) -> {
            if (failure == null) {
                simulated.complete(value);
            } else {
                simulated.completeExceptionally(failure);
            }
        });
        return simulated;
    }

    @Override
    public T join() {
        Redirected.await(this::isDone);
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        Redirected.awaitInterruptibly(this::isDone);
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        if (SimulatedThread.isCurrent()) {
            var scheduler = SimulatedThread.scheduler();
            scheduler.waitInterruptibly(this::isDone, scheduler.nanos() + Math.max(0, unit.toNanos(timeout)));
            return super.get(0, unit);
        }
        return super.get(timeout, unit);
    }
}
