package dev.steadwork.store;

import dev.steadwork.InvalidState;
import dev.steadwork.RunId;
import dev.steadwork.SteadworkException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lets concurrent writes share transactions: while one batch is being committed, further writes queue up, and the next
 * transaction takes all of them. No artificial delay: an idle system commits at once. The futures complete when the write
 * is durable.
 */
public final class Committer implements AutoCloseable {
    private static final int MAX_BATCH = 1000;

    /** Wakes a lane that waits, so that it sees that it is to end. */
    private static final Pending END =
            new Pending(new Write.Release(new RunId(new UUID(0, 0)), 0), new CompletableFuture<>());

    private final Store store;
    private final Observers observers;
    private final List<Lane> lanes;
    private volatile boolean closed;

    public Committer(Store store) {
        this(store, new Observers());
    }

    public Committer(Store store, Observers observers) {
        this.store = store;
        this.observers = observers;
        this.lanes = IntStream.range(0, store.lanes()).mapToObj(Lane::new).toList();
    }

    public CompletableFuture<TriggerResult> trigger(NewRun run) {
        return trigger(run, null);
    }

    /** @param starter who executes the run from the beginning, if anybody does and the store can do that */
    public CompletableFuture<TriggerResult> trigger(NewRun run, Write.@Nullable Starter starter) {
        return submit(new Write.Trigger(run, starter)).thenApply(TriggerResult.class::cast);
    }

    public CompletableFuture<Ack> write(Write.Fenced write) {
        return submit(write).thenApply(Ack.class::cast);
    }

    private CompletableFuture<WriteResult> submit(Write write) {
        if (closed) {
            return CompletableFuture.failedFuture(closedError());
        }
        store.checkMayWrite();
        var pending = new Pending(write, new CompletableFuture<>());
        laneOf(write).queue.add(pending);
        return pending.result;
    }

    /**
     * Triggers go by themselves, because few large batches cost less than many small ones. All writes of workers for a run take the
     * same lane, so they are applied in the order they were made.
     */
    private Lane laneOf(Write write) {
        if (write instanceof Write.Trigger || lanes.size() == 1) {
            return lanes.get(0);
        }
        return lanes.get(1 + Math.floorMod(Signals.hash(write.run()), lanes.size() - 1));
    }

    /** Commits what is queued, then refuses everything. */
    @Override
    public void close() {
        closed = true;
        lanes.forEach(Lane::end);
    }

    private static InvalidState closedError() {
        return new InvalidState("This Steadwork is closed; nothing was written. Open a new one.");
    }

    private record Pending(Write write, CompletableFuture<WriteResult> result) {}

    private final class Lane implements Runnable {
        private final BlockingQueue<Pending> queue = new LinkedBlockingQueue<>();
        private final Thread thread;

        Lane(int number) {
            thread = new Thread(this, "steadwork-commit-" + number);
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void run() {
            var batch = new ArrayList<Pending>();
            try {
                while (!closed || !queue.isEmpty()) {
                    batch.add(queue.take());
                    queue.drainTo(batch, MAX_BATCH - 1);
                    batch.remove(END);
                    flush(batch);
                    batch.clear();
                }
            } catch (InterruptedException nobodyDoesThis) {
                Thread.currentThread().interrupt();
            }
        }

        private void flush(List<Pending> batch) {
            if (batch.isEmpty()) {
                return;
            }
            try {
                long began = System.nanoTime();
                var results = store.write(batch.stream().map(Pending::write).toList());
                observers.committed(batch.size(), Duration.ofNanos(System.nanoTime() - began));
                for (int i = 0; i < results.size(); i++) {
                    batch.get(i).result.complete(results.get(i));
                }
            } catch (Throwable failure) {
                if (batch.size() == 1 || isRetryable(failure)) {
                    batch.forEach(pending -> pending.result.completeExceptionally(failure));
                } else {
                    // One bad write must not fail its neighbours: each gets a transaction of its own.
                    batch.forEach(pending -> flush(List.of(pending)));
                }
            }
        }

        void end() {
            queue.add(END);
            boolean interrupted = false;
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isRetryable(Throwable failure) {
        return failure instanceof SteadworkException known && known.code().retryable();
    }
}
