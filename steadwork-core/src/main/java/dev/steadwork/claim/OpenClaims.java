package dev.steadwork.claim;

import dev.steadwork.RunId;
import dev.steadwork.execute.Execution;
import dev.steadwork.execute.OpenRuns;
import dev.steadwork.execute.RunExecutor;
import dev.steadwork.execute.Threads;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Observers;
import dev.steadwork.store.OpenClaim;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims that stay open while their runs are executed, two at a time: while the ends of one are written, the runs of the other are
 * executed. A worker makes them when its runs have been short lately, and not from its start: a run that kills every process
 * which executes it is counted when they start again.
 */
final class OpenClaims {
    private static final Logger log = LoggerFactory.getLogger(OpenClaims.class);
    private static final int AT_ONCE = 2;
    private static final Runnable END = () -> {};
    /** How long a claim waits for one of those before it. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    /** So many runs in a row must have been short, or as many as the worker has slots: half of the first claim of many. */
    private static final int ENOUGH = 64;

    private final Store store;
    private final RunExecutor executor;
    private final Observers observers;
    private final String worker;
    private final int enough;
    private final Runnable onLost;
    private final AtomicInteger shortInARow = new AtomicInteger();
    private final AtomicInteger failing = new AtomicInteger();
    private final Semaphore free = new Semaphore(AT_ONCE);
    private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
    private final List<Thread> threads = new ArrayList<>();

    /** @param onLost told when runs that were claimed are free again */
    OpenClaims(Store store, RunExecutor executor, Observers observers, String worker, int slots, Runnable onLost) {
        this.store = store;
        this.executor = executor;
        this.observers = observers;
        this.worker = worker;
        this.enough = Math.min(ENOUGH, slots);
        this.onLost = onLost;
    }

    /** At once, not when the ends are written: a worker that has just started has claimed the next runs by then. */
    void returned(Execution execution) {
        if (execution.wasShort() && shortInARow.get() < enough) {
            shortInARow.incrementAndGet();
        }
    }

    /** One that was not short after all: it took a while, made a durable call, or was not held when it ended. */
    void settled(Execution execution) {
        if (!execution.wasShort()) {
            shortInARow.set(0);
        }
    }

    /** Whether runs are free in the database whose handlers this worker still executes: it must not claim them. */
    boolean areFailing() {
        return failing.get() > 0;
    }

    /** Whether runs are likely to be short. */
    boolean areWorthIt() {
        return shortInARow.get() >= enough;
    }

    /** A claim that the caller {@link #keep}s, or null if it is to claim in the usual way. */
    @Nullable
    OpenClaim tryOpen(ClaimRequest request) throws InterruptedException {
        if (!areWorthIt() || !free.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            return null;
        }
        OpenClaim claim = null;
        try {
            if (threads.isEmpty()) {
                start();
            }
            claim = store.openClaim(request).orElse(null);
            if (claim == null) {
                shortInARow.set(0); // there is a reason, which may be there for a while
            }
            return claim;
        } finally {
            if (claim == null) {
                free.release();
            }
        }
    }

    /** Has the claim kept when its runs have had a moment. */
    void keep(OpenClaim claim, OpenRuns runs) {
        queue.add(() -> keepSoon(claim, runs));
    }

    private void start() {
        for (int i = 0; i < AT_ONCE; i++) {
            var thread = Threads.daemon("steadwork-keep-" + i + "-" + worker, this::keepAll);
            threads.add(thread);
            thread.start();
        }
    }

    private void keepAll() {
        try {
            for (var next = queue.take(); next != END; next = queue.take()) {
                next.run();
            }
        } catch (InterruptedException nobodyDoesThis) {
            Thread.currentThread().interrupt();
        }
    }

    private void keepSoon(OpenClaim claim, OpenRuns runs) {
        var keeping = new Keeping(claim);
        var kept = Set.<RunId>of();
        try (claim) {
            kept = keeping.insist(runs.close(Execution.SHORT));
        } catch (RuntimeException | Error failure) {
            log.error("Worker {}: a claim could not be kept; its runs are claimed again.", worker, failure);
        } finally {
            free.release();
            runs.kept(kept);
            keeping.end();
        }
    }

    /** One claim on its way to the database. */
    private final class Keeping {
        private final OpenClaim claim;
        private final List<ClaimedRun> runs;
        private boolean failed;

        Keeping(OpenClaim claim) {
            this.claim = claim;
            this.runs = claim.claimed().runs();
        }

        Set<RunId> insist(List<Write.Finish> ends) {
            if (runs.isEmpty()) {
                return Set.of();
            }
            long began = System.nanoTime();
            var what = "the claim of %d runs".formatted(runs.size());
            var kept = executor.insist(runs.get(0).id(), what, () -> tryOnce(ends), Set.<RunId>of());
            if (!ends.isEmpty() && !kept.isEmpty()) {
                observers.committed(ends.size(), Duration.ofNanos(System.nanoTime() - began));
            }
            return kept;
        }

        private Set<RunId> tryOnce(List<Write.Finish> ends) {
            try {
                return claim.keep(ends);
            } catch (RuntimeException | Error failure) {
                if (!failed) {
                    failed = true;
                    failing.incrementAndGet();
                }
                throw failure;
            }
        }

        void end() {
            if (failed) {
                shortInARow.set(0); // whatever it was, the usual way has an answer to it
                failing.decrementAndGet();
                onLost.run();
            }
        }
    }

    /** Nothing is opened any more; what is open is kept all the same. */
    void stop() {
        threads.forEach(thread -> queue.add(END));
    }
}
