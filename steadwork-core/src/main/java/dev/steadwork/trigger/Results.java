package dev.steadwork.trigger;

import dev.steadwork.InvalidState;
import dev.steadwork.RunId;
import dev.steadwork.SteadworkException;
import dev.steadwork.execute.Ending;
import dev.steadwork.execute.Threads;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the ends of runs. An end in this process is told directly, one elsewhere by a hint of the store, and all that
 * are still waited for are looked at once per poll interval; one query looks at many runs.
 */
public final class Results implements Signals.Listener, AutoCloseable {
    private static final int MAX_LOOK = 1000;
    private static final Logger log = LoggerFactory.getLogger(Results.class);

    private final Store store;
    private final Duration pollInterval;
    private final Awaited awaited = new Awaited();
    /** Runs whose ends this process is storing, and whether a hint came meanwhile. */
    private final Map<RunId, Boolean> endingHere = new ConcurrentHashMap<>();

    private final Signals.Subscription subscription;
    /** Not the common pool: what callers do with a result, or with that pool, must not hold up other results. */
    private final ExecutorService threads = Threads.perTask();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition lookNow = lock.newCondition();
    private final Set<RunId> toLookAt = new HashSet<>();
    private boolean started;
    private volatile boolean closed;

    public Results(Store store, Duration pollInterval) {
        this.store = store;
        this.pollInterval = pollInterval;
        this.subscription = store.signals().subscribe(this);
    }

    /** The end of the run, as soon as it has ended; shared by all who wait for it. */
    CompletableFuture<RunEnd> of(RunId run) {
        var mine = new CompletableFuture<RunEnd>();
        var end = awaited.join(run, mine);
        if (end == mine) {
            lookAt(Set.of(run));
        }
        if (closed) {
            failAll();
        }
        return end;
    }

    /**
     * An end that this process is about to store. It is told to who waits now: whoever comes later may be waiting for the run's next
     * end. Hints of it need no look meanwhile.
     */
    public Ending ending(RunId run) {
        var waiting = awaited.get(run);
        endingHere.put(run, false);
        return new Ending() {
            @Override
            public void stored(RunEnd end) {
                tell(waiting, end);
            }

            @Override
            public void close() {
                boolean hinted = Boolean.TRUE.equals(endingHere.remove(run));
                if (hinted && awaited.get(run) != null) {
                    lookAt(Set.of(run));
                }
            }
        };
    }

    private void tell(@Nullable CompletableFuture<RunEnd> waiting, RunEnd end) {
        if (waiting != null && awaited.remove(end.run(), waiting)) {
            waiting.completeAsync(() -> end, threads);
        }
    }

    @Override
    public void ended(int runHash) {
        for (var run : awaited.withHash(runHash)) {
            if (endingHere.computeIfPresent(run, (ending, hinted) -> true) == null) {
                lookAt(Set.of(run));
            }
        }
    }

    @Override
    public void gap() {
        lookAt(awaited.runs());
    }

    private void lookAt(Iterable<RunId> runs) {
        lock.lock();
        try {
            runs.forEach(toLookAt::add);
            if (!started && !toLookAt.isEmpty()) {
                started = true;
                var thread = new Thread(this::lookAround, "steadwork-results");
                thread.setDaemon(true);
                thread.start();
            }
            if (!toLookAt.isEmpty()) {
                lookNow.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void lookAround() {
        while (!closed) {
            try {
                var waiting = nextToLookAt();
                var runs = List.copyOf(waiting.keySet());
                for (int from = 0; from < runs.size(); from += MAX_LOOK) {
                    store.ends(runs.subList(from, Math.min(runs.size(), from + MAX_LOOK)))
                            .forEach(end -> tell(waiting.get(end.run()), end));
                }
            } catch (InterruptedException nobodyDoesThis) {
                return;
            } catch (SteadworkException unavailable) {
                log.debug("Results are looked at again later: {}", unavailable.getMessage());
            } catch (RuntimeException | Error unexpected) {
                log.error("Looking at results failed; trying again.", unexpected);
            }
        }
    }

    /** Who waits for the runs that a hint named; after a poll interval without hints, all who wait. */
    private Map<RunId, CompletableFuture<RunEnd>> nextToLookAt() throws InterruptedException {
        lock.lock();
        try {
            long left = pollInterval.toNanos();
            while (toLookAt.isEmpty() && left > 0 && !closed) {
                left = awaited.isEmpty() ? waitLong() : lookNow.awaitNanos(left);
            }
            var waiting = new HashMap<RunId, CompletableFuture<RunEnd>>();
            for (var run : toLookAt.isEmpty() ? awaited.runs() : toLookAt) {
                var future = awaited.get(run);
                if (future != null) {
                    waiting.put(run, future);
                }
            }
            toLookAt.clear();
            return waiting;
        } finally {
            lock.unlock();
        }
    }

    /** Nobody waits for anything: sleep until somebody does. */
    private long waitLong() throws InterruptedException {
        lookNow.await(1, TimeUnit.HOURS);
        return pollInterval.toNanos();
    }

    private void failAll() {
        var error =
                new InvalidState("This Steadwork was closed while the result was waited for; the run itself goes on.");
        awaited.clear().forEach(waiting -> waiting.completeExceptionally(error));
    }

    @Override
    public void close() {
        closed = true;
        subscription.close();
        lock.lock();
        try {
            lookNow.signalAll();
        } finally {
            lock.unlock();
        }
        failAll();
        threads.shutdown();
    }
}
