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
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the ends of runs. An end in this process is told directly, one elsewhere by a hint of the store, and all that
 * are still waited for are looked at once per poll interval; one query looks at many runs.
 */
public final class Results implements Signals.Listener, AutoCloseable {
    private static final int MAX_LOOK = 1000;
    /** After that time a run that is executed here is looked at all the same; most have ended by then. */
    private static final long LATER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Logger log = LoggerFactory.getLogger(Results.class);

    private final Store store;
    private final Duration pollInterval;
    private final Predicate<RunId> executes;
    private final Awaited awaited = new Awaited();
    /** Runs whose ends this process is storing, and whether a hint came meanwhile. */
    private final Map<RunId, Boolean> endingHere = new ConcurrentHashMap<>();

    private final Signals.Subscription subscription;
    /** Not the common pool: what callers do with a result, or with that pool, must not hold up other results. */
    private final ExecutorService threads = Threads.perTask();

    private final ScheduledExecutorService timers = timers();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition lookNow = lock.newCondition();
    private final Set<RunId> toLookAt = new HashSet<>();
    /** And since when, the longest first. */
    private final Map<RunId, Long> toLookAtLater = new LinkedHashMap<>();

    private boolean started;
    private volatile boolean closed;

    /** @param executes whether this process executes the run now */
    public Results(Store store, Duration pollInterval, Predicate<RunId> executes) {
        this.executes = executes;
        this.store = store;
        this.pollInterval = pollInterval;
        this.subscription = store.signals().subscribe(this);
    }

    /**
     * Waits for the end of the run.
     *
     * @throws ExecutionException because of a {@link TimeoutException} if it does not come in time
     */
    RunEnd await(RunId run, Duration timeout) throws InterruptedException, ExecutionException {
        return of(run).await(timeout, timers);
    }

    /** What is made of the end of the run, as soon as it has ended. */
    <T> CompletableFuture<T> future(RunId run, Function<RunEnd, T> result) {
        return of(run).future().thenApplyAsync(result, threads);
    }

    /** The end of the run, as soon as it has ended; shared by all who wait for it. */
    private AwaitedEnd of(RunId run) {
        var mine = new AwaitedEnd();
        var end = awaited.join(run, mine);
        if (end == mine) {
            // In this order: a run ceases to be executed before it ceases to end, and then its end may have been told.
            boolean willBeTold = !endingHere.containsKey(run) && executes.test(run);
            if (willBeTold) {
                lookLaterAt(run);
            } else {
                lookAt(Set.of(run));
            }
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
        endingHere.put(run, false); // before the look at who waits, see of()
        var waiting = awaited.get(run);
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

    private void tell(@Nullable AwaitedEnd waiting, RunEnd end) {
        if (waiting != null && awaited.remove(end.run(), waiting)) {
            waiting.complete(end);
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

    private void lookAt(Collection<RunId> runs) {
        if (runs.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            toLookAt.addAll(runs);
            startLooking();
        } finally {
            lock.unlock();
        }
    }

    /** The run is executed here, so its end will be told, unless somebody else ends it meanwhile. */
    private void lookLaterAt(RunId run) {
        lock.lock();
        try {
            boolean first = toLookAtLater.isEmpty();
            toLookAtLater.putIfAbsent(run, System.nanoTime());
            if (first) {
                startLooking();
            }
        } finally {
            lock.unlock();
        }
    }

    private void startLooking() {
        if (!started) {
            started = true;
            Threads.daemon("steadwork-results", this::lookAround).start();
        }
        lookNow.signal();
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
    private Map<RunId, AwaitedEnd> nextToLookAt() throws InterruptedException {
        lock.lock();
        try {
            long left = pollInterval.toNanos();
            for (long wait = untilLater(); toLookAt.isEmpty() && left > 0 && !closed; wait = untilLater()) {
                long slept = Math.min(left, wait);
                left = awaited.isEmpty() ? waitLong() : left - slept + lookNow.awaitNanos(slept);
            }
            var waiting = new HashMap<RunId, AwaitedEnd>();
            for (var run : toLookAt.isEmpty() ? awaited.runs() : toLookAt) {
                var end = awaited.get(run);
                if (end != null) {
                    waiting.put(run, end);
                }
            }
            toLookAt.clear();
            return waiting;
        } finally {
            lock.unlock();
        }
    }

    /** How long until the oldest of those is due that are looked at later; if it is, a good part of them goes with it. */
    private long untilLater() {
        var oldest = toLookAtLater.values().iterator();
        if (!oldest.hasNext()) {
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        long until = oldest.next() + LATER_NANOS - now;
        if (until > 0) {
            return until;
        }
        for (var later = toLookAtLater.entrySet().iterator(); later.hasNext(); ) {
            var one = later.next();
            if (now - one.getValue() < LATER_NANOS / 2) {
                break;
            }
            if (awaited.get(one.getKey()) != null) {
                toLookAt.add(one.getKey());
            }
            later.remove();
        }
        return LATER_NANOS / 2;
    }

    /** Nobody waits for anything: sleep until somebody does, who then is the first again and wakes us. */
    private long waitLong() throws InterruptedException {
        toLookAtLater.clear();
        lookNow.await(1, TimeUnit.HOURS);
        return pollInterval.toNanos();
    }

    private static ScheduledExecutorService timers() {
        // Whoever begins to wait when all is closed is told so; that needs no timer.
        var timers = new ScheduledThreadPoolExecutor(
                1, task -> Threads.daemon("steadwork-timeouts", task), new ThreadPoolExecutor.DiscardPolicy());
        timers.setRemoveOnCancelPolicy(true);
        return timers;
    }

    private void failAll() {
        var error =
                new InvalidState("This Steadwork was closed while the result was waited for; the run itself goes on.");
        awaited.clear().forEach(waiting -> waiting.fail(error));
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
        timers.shutdownNow();
    }
}
