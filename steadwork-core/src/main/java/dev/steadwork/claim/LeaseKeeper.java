package dev.steadwork.claim;

import dev.steadwork.RunId;
import dev.steadwork.SteadworkException;
import dev.steadwork.Workflow;
import dev.steadwork.execute.Availability;
import dev.steadwork.execute.Execution;
import dev.steadwork.execute.RunExecutor;
import dev.steadwork.execute.Threads;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of the runs that this worker executes: one statement per heartbeat for all of them. Its answer tells
 * which leases were lost and what was asked of the runs.
 */
final class LeaseKeeper implements Runnable, Signals.Listener {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

    private final Store store;
    private final String namespace;
    private final String worker;
    private final Duration registryInterval;
    private final Duration tick;
    private final Availability availability;
    private final LimitedQueues limitedQueues;
    private final Consumer<HeartbeatAnswer.Entry> onEntry;
    private final RunExecutor executor;
    private final Map<RunId, Held> held = new ConcurrentHashMap<>();
    private final AtomicLong completed = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final Wakeup wakeup = new Wakeup();
    private final Thread thread;
    private volatile boolean everythingIsDue;
    private volatile boolean draining;
    private volatile boolean stopping;
    private volatile long registeredAtNanos = System.nanoTime();

    LeaseKeeper(
            Store store,
            String namespace,
            String worker,
            Workflow.Lease defaultLease,
            Collection<Share> shares,
            RunExecutor executor,
            Availability availability,
            LimitedQueues limitedQueues,
            Consumer<HeartbeatAnswer.Entry> onEntry) {
        this.onEntry = onEntry;
        this.store = store;
        this.namespace = namespace;
        this.worker = worker;
        this.executor = executor;
        this.availability = availability;
        this.limitedQueues = limitedQueues;
        this.registryInterval = defaultLease.heartbeat();
        var shortest = shares.stream()
                .map(share -> share.lease().heartbeat())
                .min(Duration::compareTo)
                .orElse(defaultLease.heartbeat());
        this.tick = shortest.dividedBy(10);
        this.thread = Threads.daemon("steadwork-lease-" + worker, this);
    }

    void start() {
        thread.start();
    }

    void hold(Execution execution, Workflow.Lease lease) {
        held.put(execution.id(), new Held(execution, lease));
    }

    void letGo(Execution execution) {
        held.computeIfPresent(execution.id(), (id, now) -> now.execution() == execution ? null : now);
    }

    boolean holds(RunId run) {
        return held.containsKey(run);
    }

    Set<RunId> executing() {
        return Set.copyOf(held.keySet());
    }

    List<Execution> executions() {
        return held.values().stream().map(Held::execution).toList();
    }

    void countCompleted() {
        completed.incrementAndGet();
    }

    void countFailed() {
        failed.incrementAndGet();
    }

    void drain() {
        draining = true;
        beatSoon();
    }

    /** Something was asked of what has this hash: if it is ours, look now instead of at the next heartbeat. */
    @Override
    public void requested(int hash) {
        if (hash == Signals.hash(namespace, worker)
                || held.keySet().stream().anyMatch(run -> Signals.hash(run) == hash)) {
            beatSoon();
        }
    }

    private void beatSoon() {
        everythingIsDue = true;
        wakeup.wake();
    }

    @Override
    public void run() {
        while (!stopping) {
            try {
                wakeup.await(tick.toNanos());
                if (stopping) {
                    return;
                }
                stopOverdue();
                beatIfDue();
                limitedQueues.lookIfDue();
            } catch (InterruptedException stopped) {
                return;
            } catch (SteadworkException unavailable) {
                log.warn("Worker {}: heartbeat failed, trying again: {}", worker, unavailable.getMessage());
            } catch (RuntimeException | Error unexpected) {
                log.error("Worker {}: heartbeat failed, trying again.", worker, unexpected);
            }
        }
    }

    /** Stops runs past their deadline, and gives up on handlers that do not heed being stopped. */
    private void stopOverdue() {
        for (var execution : executions()) {
            var untilDeadline = execution.untilDeadline();
            if (untilDeadline != null && untilDeadline.isNegative()) {
                execution.stop(Execution.Stop.DEADLINE);
            }
            if (execution.isDeaf()) {
                executor.abandon(execution);
            }
        }
    }

    private void beatIfDue() {
        boolean all = everythingIsDue;
        everythingIsDue = false;
        var due = leased().filter(h -> all || h.isDue(tick)).toList();
        boolean registryIsDue = System.nanoTime() - registeredAtNanos >= registryInterval.toNanos();
        if (all || registryIsDue || !due.isEmpty()) {
            beat(due);
        }
    }

    /** Prolongs all leases now; throws if the database cannot be reached. */
    void beat() {
        beat(leased().toList());
    }

    /** Without those whose claim has yet to be kept. */
    private Stream<Held> leased() {
        return held.values().stream().filter(run -> run.execution().isHeld());
    }

    private synchronized void beat(List<Held> due) {
        long sentAt = System.nanoTime();
        var answer = send(due);
        registeredAtNanos = sentAt;
        for (var run : due) {
            var requests = answer.held().get(run.execution().id());
            if (requests == null) {
                run.execution().stop(Execution.Stop.LEASE_LOST);
                continue;
            }
            run.renewed(sentAt);
            if (requests.cancel()) {
                run.execution().stop(Execution.Stop.CANCEL);
            }
            if (requests.pause()) {
                run.execution().requestPause();
            }
        }
        availability.recovered();
        onEntry.accept(answer.entry());
    }

    /** What was counted since the last heartbeat goes with it, or with the next one if it fails. */
    private HeartbeatAnswer send(List<Held> due) {
        long newlyCompleted = completed.getAndSet(0);
        long newlyFailed = failed.getAndSet(0);
        try {
            return store.heartbeat(new Heartbeat(
                    namespace,
                    worker,
                    due.stream().map(Held::forHeartbeat).toList(),
                    held.size(),
                    newlyCompleted,
                    newlyFailed,
                    draining));
        } catch (RuntimeException failure) {
            completed.addAndGet(newlyCompleted);
            failed.addAndGet(newlyFailed);
            throw failure;
        }
    }

    /** Beats no more; returns when the last heartbeat has ended. */
    void stop() {
        stopping = true;
        wakeup.wake();
        Threads.join(thread);
    }
}
