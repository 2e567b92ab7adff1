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
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets concurrent writes share transactions: while one batch is being committed, further writes queue up, and the next
 * transaction takes all of them. An idle system commits at once; under load a batch waits up to two milliseconds for as many writes
 * as the last ones had. The futures complete when the write is durable.
 */
public final class Committer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Committer.class);

    /** The most of a batch if there is one lane: every commit waits for the disk, so it takes all it can. */
    private static final int MOST_OF_ONE = 1000;

    /** If there are several: who waits for one of many writes goes on sooner, and gives the other lanes something to do. */
    private static final int MOST_OF_SEVERAL = 256;

    /** How long a batch waits for as many writes as came together lately, unless these are few. */
    private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private static final int FEW = 4;

    /** To answer so many takes a while: somebody else does it, and the lane goes on. */
    private static final int MANY = 32;

    /** Wakes a lane that waits, so that it sees that it is to end. */
    private static final Pending END =
            new Pending(new Write.Release(new RunId(new UUID(0, 0)), 0), new CompletableFuture<>());

    private final Store store;
    private final Observers observers;
    private final Executor answering;
    private final List<Lane> lanes;
    private final int maxBatch;
    private volatile boolean closed;

    public Committer(Store store) {
        this(store, new Observers(), Runnable::run);
    }

    /** @param answering completes the futures of large batches; it must not wait for anybody who waits for one of them */
    public Committer(Store store, Observers observers, Executor answering) {
        this.store = store;
        this.observers = observers;
        this.answering = answering;
        this.maxBatch = store.lanes() == 1 ? MOST_OF_ONE : MOST_OF_SEVERAL;
        this.lanes = IntStream.range(0, store.lanes()).mapToObj(Lane::new).toList();
    }

    public CompletableFuture<TriggerResult> trigger(NewRun run) {
        return trigger(run, null);
    }

    /** @param starter who executes the run from the beginning, if anybody does and the store can do that */
    public CompletableFuture<TriggerResult> trigger(NewRun run, Write.@Nullable Starter starter) {
        return submit(new Write.Trigger(run, starter));
    }

    public CompletableFuture<Ack> write(Write.Fenced write) {
        return submit(write);
    }

    /** The store answers a trigger by one kind of result and a fenced write by another. */
    @SuppressWarnings("unchecked")
    private <R extends WriteResult> CompletableFuture<R> submit(Write write) {
        if (closed) {
            return CompletableFuture.failedFuture(closedError());
        }
        store.checkMayWrite();
        var pending = new Pending(write, new CompletableFuture<>());
        laneOf(write).add(pending);
        return (CompletableFuture<R>) pending.result;
    }

    /**
     * Writes of a kind go together: one statement for many of them costs less than several for some of them. Most are steps:
     * they have two lanes, by run, so that some are sent while others are being committed. What a run writes is not put in
     * order by this: whoever executes it waits for a write before it makes one that depends on it.
     */
    private Lane laneOf(Write write) {
        boolean isStep = write instanceof Write.SaveStep || write instanceof Write.SaveAttempt;
        int lane =
                write instanceof Write.Trigger ? 0 : isStep ? 2 + (write.run().hashCode() & 1) : 1;
        return lanes.get(lane % lanes.size());
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
        /** So many are waited for. */
        private volatile int expected = Integer.MAX_VALUE;
        /** Nobody takes anything from the queue any more. */
        private volatile boolean ended;

        Lane(int number) {
            thread = new Thread(this, "steadwork-commit-" + number);
            thread.setDaemon(true);
            thread.start();
        }

        void add(Pending pending) {
            queue.add(pending);
            if (queue.size() >= expected) {
                LockSupport.unpark(thread);
            }
            if (ended) { // looked at after the write was added: either the lane has seen it or this does
                refuseRest();
            }
        }

        private void refuseRest() {
            for (var late = queue.poll(); late != null; late = queue.poll()) {
                late.result.completeExceptionally(closedError());
            }
        }

        @Override
        public void run() {
            var batch = new ArrayList<Pending>();
            int last = 1;
            int beforeLast = 1;
            try {
                while (!closed || !queue.isEmpty()) {
                    batch.add(queue.take());
                    int lately = Math.max(last, beforeLast);
                    if (lately > FEW) {
                        gather(lately - batch.size());
                    }
                    queue.drainTo(batch, maxBatch - batch.size());
                    beforeLast = last;
                    last = batch.size();
                    batch.remove(END);
                    flush(batch);
                    batch.clear();
                }
            } catch (InterruptedException nobodyDoesThis) {
                Thread.currentThread().interrupt();
            } finally {
                ended = true;
                refuseRest();
            }
        }

        /** Waits a moment for as many more as came together lately: they are on their way. */
        private void gather(int more) {
            long until = System.nanoTime() + GATHER_NANOS;
            expected = more;
            for (long left = GATHER_NANOS;
                    queue.size() < more && left > 0 && !closed;
                    left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            expected = Integer.MAX_VALUE;
        }

        private void flush(List<Pending> batch) {
            if (batch.isEmpty()) {
                return;
            }
            List<WriteResult> results;
            try {
                long began = System.nanoTime();
                results = store.write(batch.stream().map(Pending::write).toList());
                observers.committed(batch.size(), Duration.ofNanos(System.nanoTime() - began));
            } catch (Throwable failure) {
                if (batch.size() == 1 || isRetryable(failure)) {
                    batch.forEach(pending -> pending.result.completeExceptionally(failure));
                } else {
                    // One bad write must not fail its neighbours: each gets a transaction of its own.
                    batch.forEach(pending -> flush(List.of(pending)));
                }
                return;
            }
            answer(batch, results);
        }

        /** What is stored is told, by the lane itself if nobody else can. */
        private void answer(List<Pending> batch, List<WriteResult> results) {
            if (batch.size() >= MANY) {
                try {
                    var written = List.copyOf(batch); // the lane's own list takes the next batch
                    answering.execute(() -> complete(written, results));
                    return;
                } catch (RuntimeException | Error noThread) {
                    log.debug("Nobody else can answer {} writes.", batch.size(), noThread);
                }
            }
            complete(batch, results);
        }

        private static void complete(List<Pending> written, List<WriteResult> results) {
            for (int i = 0; i < results.size(); i++) {
                written.get(i).result.complete(results.get(i));
            }
        }

        void end() {
            queue.add(END);
            LockSupport.unpark(thread);
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
