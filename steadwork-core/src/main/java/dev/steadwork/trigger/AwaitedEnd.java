package dev.steadwork.trigger;

import dev.steadwork.store.RunEnd;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The end of a run, shared by all who wait for it. Who waits for a time and gives up leaves nothing behind: a long run may be
 * asked for its end very often.
 */
final class AwaitedEnd {
    private final CompletableFuture<RunEnd> end = new CompletableFuture<>();
    /** Those who wait for a time. */
    private final Queue<CompletableFuture<RunEnd>> waiting = new ConcurrentLinkedQueue<>();

    CompletableFuture<RunEnd> future() {
        return end;
    }

    /**
     * Waits without a timer of the thread's own: a virtual thread that parks for a time wakes a thread of the JVM for it, and once
     * more to take it back.
     *
     * @throws ExecutionException because of a {@link TimeoutException} if the end does not come in time
     */
    RunEnd await(Duration timeout, ScheduledExecutorService timers) throws InterruptedException, ExecutionException {
        var mine = new CompletableFuture<RunEnd>();
        waiting.add(mine);
        if (end.isDone()) { // looked at after mine was added: either who completes the end sees it or this does
            return end.get();
        }
        var timer = timers.schedule(
                () -> mine.completeExceptionally(new TimeoutException()), timeout.toNanos(), TimeUnit.NANOSECONDS);
        try {
            return mine.get();
        } finally {
            timer.cancel(false);
            waiting.remove(mine);
        }
    }

    void complete(RunEnd value) {
        end.complete(value);
        waiting.forEach(one -> one.complete(value));
    }

    void fail(RuntimeException error) {
        end.completeExceptionally(error);
        waiting.forEach(one -> one.completeExceptionally(error));
    }

    int waitingForSomeTime() {
        return waiting.size();
    }
}
