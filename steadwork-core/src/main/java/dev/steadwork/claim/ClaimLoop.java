package dev.steadwork.claim;

import dev.steadwork.SteadworkException;
import dev.steadwork.StepKind;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.execute.DatabaseClock;
import dev.steadwork.execute.Execution;
import dev.steadwork.execute.OpenRuns;
import dev.steadwork.execute.Opening;
import dev.steadwork.execute.RunExecutor;
import dev.steadwork.execute.Threads;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Observers;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Signals;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Store;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps its queues moving: claims ready runs while slots are free and hands each to the executor. */
final class ClaimLoop implements Runnable, Signals.Listener {
    private static final Logger log = LoggerFactory.getLogger(ClaimLoop.class);
    private static final int PROMOTE_BATCH = 1000;
    /** How often timers are looked at while hints come in: a timer set just now may be due soon. */
    private static final long TIMER_LOOK_NANOS = Duration.ofMillis(50).toNanos();

    /** Slow looks that found nothing due take at most a third of the time. */
    private static final int TIMER_LOOKS_SELDOM = 2;

    /** How long a claim waits for further slots, if runs wait and few slots are free: many runs then cost one claim. */
    private static final long GATHER_NANOS = Duration.ofMillis(2).toNanos();

    private static final int GATHERS_OF_SHORT = 5;

    private static final Duration RECONNECT_WAIT = Duration.ofSeconds(1);

    private final Store store;
    private final String namespace;
    private final String worker;
    private final WorkerBuilder.Spec spec;
    private final List<Share> shares;
    private final Slots slots;
    private final LimitedQueues limitedQueues;
    private final Turns turns = new Turns();
    private final LeaseKeeper keeper;
    private final RunExecutor executor;
    private final OpenClaims openClaims;
    private final Observers observers;
    private final BiConsumer<Execution, Share> onClaim;
    private final Duration pollInterval;
    private final Wakeup wakeup = new Wakeup();
    private final Thread thread;

    private volatile List<String> queues = List.of();
    private volatile Set<Integer> topics = Set.of();
    private volatile boolean stopping;
    private volatile boolean draining;
    private volatile long timersDueNanos = System.nanoTime();
    private volatile long timersNextNanos = System.nanoTime();
    private volatile boolean wantsSlots = true;
    /** Counts the hints that runs are ready, and how many of them came before the last look. */
    private final AtomicLong hints = new AtomicLong();

    private volatile long hintsHeeded;
    private volatile boolean openingsWanted;

    private long pollNanos = System.nanoTime();
    private boolean heldBack;
    /** Whether there is a reason to look, other than that it was long ago. */
    private boolean expectsRuns;

    private long retryNanos = pollNanos;

    ClaimLoop(
            Store store,
            String namespace,
            String worker,
            WorkerBuilder.Spec spec,
            List<Share> shares,
            Slots slots,
            LimitedQueues limitedQueues,
            LeaseKeeper keeper,
            RunExecutor executor,
            OpenClaims openClaims,
            Observers observers,
            BiConsumer<Execution, Share> onClaim,
            Duration pollInterval) {
        this.store = store;
        this.namespace = namespace;
        this.worker = worker;
        this.spec = spec;
        this.shares = shares;
        this.slots = slots;
        this.limitedQueues = limitedQueues;
        this.keeper = keeper;
        this.executor = executor;
        this.observers = observers;
        this.onClaim = onClaim;
        this.pollInterval = pollInterval;
        this.openClaims = openClaims;
        this.thread = Threads.daemon("steadwork-claim-" + worker, this);
    }

    void start() {
        refreshQueues();
        limitedQueues.start();
        thread.start();
    }

    @Override
    public void run() {
        while (!stopping) {
            try {
                boolean more = claimAndDispatch();
                if (!more) {
                    waitForWork();
                }
            } catch (InterruptedException stopped) {
                return;
            } catch (SteadworkException unavailable) {
                reconnect(unavailable);
            } catch (RuntimeException | Error unexpected) {
                log.error("Worker {}: claiming failed, trying again.", worker, unexpected);
                pause(RECONNECT_WAIT);
            }
        }
    }

    /** Takes what is ready and fits; whether more may be ready for slots that are free. */
    private boolean claimAndDispatch() throws InterruptedException {
        boolean polled = pollIfDue();
        boolean promoted = promoteIfDue();
        gatherSlots();
        boolean owesLook = System.nanoTime() - retryNanos >= 0;
        boolean more = false;
        boolean full = false;
        heldBack = false;
        retryNanos = pollNanos;
        long hintsBefore = hints.get();
        boolean hinted = hintsBefore != hintsHeeded;
        boolean somethingNew = polled || promoted || owesLook || hinted;
        expectsRuns = promoted || hinted || wantsSlots;
        // If none waits for a slot, runs that are created in this process meanwhile may start as well.
        boolean all = wantsSlots || !openingsWanted;
        openingsWanted = false;
        for (var share : shares) {
            int free = slots.reserve(share.limitedType(), all, expectsRuns && openClaims.areWorthIt());
            try {
                int claimed = free > 0 && !queues.isEmpty() && mayClaim() ? claim(share, free) : 0;
                more |= free > 0 && claimed == free;
                full |= free <= 0;
            } finally {
                slots.unreserve();
            }
        }
        wantsSlots = full && (wantsSlots || somethingNew) || more || heldBack;
        hintsHeeded = hintsBefore;
        return more;
    }

    /** Short runs leave their slots soon: it is better to wait for many of these. */
    private void gatherSlots() {
        if (openClaims.areWorthIt()) {
            for (int i = 0; i < GATHERS_OF_SHORT && wantsSlots && slots.areMostlyUsed(); i++) {
                LockSupport.parkNanos(GATHER_NANOS);
            }
        } else if (wantsSlots && slots.areFew()) {
            LockSupport.parkNanos(GATHER_NANOS);
        }
    }

    /**
     * A slot for a run that is created now, if it would be claimed by this worker at once: no run is known to wait for a slot. If
     * there may be some that were not looked at yet, the last slot is left to them.
     */
    @Nullable
    Opening openingFor(NewRun run) {
        var share = shareOf(run.type());
        var queue = run.queue();
        if (share == null
                || queue == null
                || !mayClaim()
                || !queues.contains(queue)
                || limitedQueues.contains(queue)
                || !spec.versions().isEmpty()) {
            return null;
        }
        openingsWanted = true;
        boolean othersWait = hints.get() != hintsHeeded;
        if (wantsSlots || !slots.tryTake(run.type(), othersWait ? 1 : 0)) {
            if (slots.isFull(run.type())) {
                wantsSlots = true;
            }
            return null;
        }
        var slot = new FreeSlot(run.type(), share);
        if (!mayClaim()) { // looked at again: a worker that is closed waits for the slots that it sees taken
            slot.close();
            return null;
        }
        return slot;
    }

    private @Nullable Share shareOf(String type) {
        for (var share : shares) {
            if (share.types().contains(type)) {
                return share;
            }
        }
        return null;
    }

    private final class FreeSlot implements Opening {
        private final String type;
        private final Share share;
        private final long takenAtNanos = System.nanoTime();
        private boolean used;

        FreeSlot(String type, Share share) {
            this.type = type;
            this.share = share;
        }

        @Override
        public Write.Starter starter() {
            return new Write.Starter(worker, share.lease().duration());
        }

        @Override
        public void start(TriggerResult.Started started) {
            used = true;
            var run = started.run();
            try {
                execute(run, new DatabaseClock(started.now(), takenAtNanos), share, null);
            } catch (RejectedExecutionException closed) {
                // The run is accepted all the same, and its slot was given back.
                log.warn("Run {}: the worker has been closed; it goes on when its lease has expired.", run.id());
            }
            if (limitedQueues.contains(run.queue())) {
                count(run);
            }
        }

        /** A limit that was set meanwhile has counted what was executed before it was seen. */
        private void count(ClaimedRun run) {
            try {
                store.countRunning(namespace, run.queue(), List.of(run.id()));
            } catch (SteadworkException unavailable) {
                log.warn("Run {} does not count for the new limit of queue {}.", run.id(), run.queue(), unavailable);
            }
        }

        @Override
        public void close() {
            if (!used) {
                slots.release(type);
                slotFreed();
            }
        }
    }

    private boolean mayClaim() {
        return !stopping && !draining && !openClaims.areFailing();
    }

    private int claim(Share share, int limit) throws InterruptedException {
        int claimed = 0;
        for (var turn : turns.next(queues, limitedQueues.heed(keeper::executing))) {
            if (claimed < limit) {
                var request = request(share, turn.queues(), limit - claimed);
                claimed += turn.limited() ? claimLimited(request, share) : claimFree(request, share);
            }
        }
        return claimed;
    }

    private ClaimRequest request(Share share, List<String> from, int limit) {
        return new ClaimRequest(
                namespace,
                worker,
                from,
                share.types(),
                share.typePrefixes(),
                List.copyOf(spec.versions()),
                limit,
                share.lease().duration());
    }

    private int claimFree(ClaimRequest request, Share share) throws InterruptedException {
        long began = System.nanoTime();
        var open = expectsRuns ? openClaims.tryOpen(request) : null;
        if (open == null) {
            return dispatch(store.claim(request), share, began, null);
        }
        var runs = new OpenRuns(open.claimed().runs().size());
        try {
            return dispatch(open.claimed(), share, began, runs);
        } finally {
            openClaims.keep(open, runs);
        }
    }

    private int claimLimited(ClaimRequest request, Share share) {
        long began = System.nanoTime();
        wantsSlots = true; // before the claim: a place that becomes free after it was counted is worth another look
        var answer = store.claimLimited(request).orElseGet(() -> {
            request.queues().forEach(limitedQueues::forget);
            return store.claim(request);
        });
        return dispatch(answer, share, began, null);
    }

    private int dispatch(Claimed claimed, Share share, long askedAtNanos, @Nullable OpenRuns open) {
        observers.claimed(claimed.runs().size(), Duration.ofNanos(System.nanoTime() - askedAtNanos));
        noteHeldBack(claimed.heldBack());
        if (claimed.lookAgainAfter() != null) {
            retryAfter(claimed.lookAgainAfter());
        }
        var clock = new DatabaseClock(claimed.now(), askedAtNanos);
        for (var run : claimed.runs()) {
            tellIfWoken(run, claimed.now());
            slots.take(run.type());
            execute(run, clock, share, open);
        }
        return claimed.runs().size();
    }

    private void execute(ClaimedRun run, DatabaseClock clock, Share share, @Nullable OpenRuns open) {
        var execution = executor.prepare(run, clock, open);
        onClaim.accept(execution, share);
        executor.start(execution);
    }

    /** A run whose last step is a sleep has just been woken from it. */
    private void tellIfWoken(ClaimedRun run, Instant now) {
        if (observers.isEmpty()) {
            return;
        }
        var last = run.steps().stream()
                .max(Comparator.comparingInt(step -> step.key().position()));
        var wakeAt = last.filter(step -> step.kind() == StepKind.SLEEP)
                .map(StepRecord::wakeAt)
                .orElse(null);
        if (wakeAt != null && !wakeAt.isAfter(now)) {
            observers.woken(run.type(), Duration.between(wakeAt, now));
        }
    }

    /** The limit of a queue lets no more runs through: worth a look when one has left, or when its rate allows the next. */
    private void noteHeldBack(Claimed.@Nullable HeldBack limit) {
        if (limit == null) {
            return;
        }
        heldBack = true;
        var retryAfter = limit.retryAfter();
        if (retryAfter != null && retryAfter.compareTo(pollInterval.multipliedBy(2)) < 0) {
            retryAfter(retryAfter);
        }
    }

    private void retryAfter(Duration wait) {
        long retry = System.nanoTime() + wait.toNanos();
        retryNanos = retry - retryNanos < 0 ? retry : retryNanos;
    }

    /** The safety net: looks at everything, in case a hint was lost. Whether it was time. */
    private boolean pollIfDue() {
        long now = System.nanoTime();
        if (now - pollNanos < 0) {
            return false;
        }
        pollNanos = now + jittered(pollInterval).toNanos();
        refreshQueues();
        timersDueBy(now);
        return true;
    }

    /** Whether runs became ready by it. */
    private boolean promoteIfDue() {
        if (System.nanoTime() - timersDueNanos < 0) {
            return false;
        }
        long began = System.nanoTime();
        timersNextNanos = began + TIMER_LOOK_NANOS;
        timersDueNanos = pollNanos; // before the look: a hint meanwhile brings it forward
        if (queues.isEmpty()) {
            return false;
        }
        // One that is due long after the next look may be centuries away.
        var lookAhead = pollInterval.multipliedBy(2);
        var promotion =
                store.promote(new PromoteRequest(namespace, queues, keeper.executing(), PROMOTE_BATCH, lookAhead));
        if (promotion.promoted() == 0) {
            long ended = System.nanoTime();
            putTimersOff(Math.max(began + TIMER_LOOK_NANOS, ended + TIMER_LOOKS_SELDOM * (ended - began)));
        }
        var untilNext = promotion.untilNext();
        if (untilNext != null && untilNext.compareTo(lookAhead) < 0) {
            timersDueBy(System.nanoTime() + untilNext.toNanos());
        }
        return promotion.promoted() > 0;
    }

    /** A hint that came during the look brought the next one forward, but not before that. */
    private synchronized void putTimersOff(long nanos) {
        timersNextNanos = nanos;
        if (timersDueNanos - nanos < 0 && nanos - pollNanos < 0) {
            timersDueNanos = nanos;
        }
    }

    private synchronized void timersDueBy(long nanos) {
        if (nanos - timersDueNanos < 0) {
            timersDueNanos = nanos;
        }
    }

    private void waitForWork() throws InterruptedException {
        long now = System.nanoTime();
        wakeup.await(Math.min(timersDueNanos - now, retryNanos - now));
    }

    /** A worker that claims by prefix reads the queues of the definitions that match now. */
    private void refreshQueues() {
        if (isByPrefix(spec)) {
            var found = store.queuesOfPrefixes(namespace, spec.typePrefixes()).stream()
                    .sorted()
                    .toList();
            if (!found.equals(queues)) {
                store.workerReads(namespace, worker, found);
            }
            queues = found;
        } else {
            queues = namedQueues(spec);
        }
        topics = queues.stream().map(queue -> Signals.topic(namespace, queue)).collect(Collectors.toSet());
    }

    private static boolean isByPrefix(WorkerBuilder.Spec spec) {
        return spec.queues().isEmpty() && !spec.typePrefixes().isEmpty();
    }

    /** The queues that are known without asking the database. */
    static List<String> namedQueues(WorkerBuilder.Spec spec) {
        if (spec.handlers().isEmpty() || isByPrefix(spec)) {
            return List.of();
        }
        return spec.queues().isEmpty()
                ? spec.handlers().values().stream()
                        .map(handling -> handling.workflow().options().queue())
                        .distinct()
                        .toList()
                : List.copyOf(spec.queues());
    }

    List<String> queues() {
        return queues;
    }

    /** Claims nothing more for now, or again. */
    void drain(boolean asked) {
        if (draining != asked) {
            draining = asked;
            log.info("Worker {} {}.", worker, asked ? "was asked to drain: it takes no more runs" : "takes runs again");
            wakeup.wake();
        }
    }

    @Override
    public void ready(int topic) {
        if (topics.contains(topic)) {
            hints.incrementAndGet();
            timersDueBy(timersNextNanos);
            wakeup.wake();
        }
    }

    /** A namespace that was disabled may hand out runs again. */
    @Override
    public void settings() {
        wakeup.wake();
    }

    @Override
    public void gap() {
        hints.incrementAndGet();
        timersDueBy(timersNextNanos);
        wakeup.wake();
    }

    /** A slot is free again: worth a look if runs were left waiting for one. */
    void slotFreed() {
        if (wantsSlots) {
            wakeup.wake();
        }
    }

    /** After a lost connection checkpoints and leases go first: nothing is claimed before a heartbeat went through. */
    private void reconnect(SteadworkException unavailable) {
        log.warn("Worker {}: the database cannot be used, trying again: {}", worker, unavailable.getMessage());
        while (!stopping) {
            pause(jittered(RECONNECT_WAIT));
            try {
                keeper.beat();
                log.info("Worker {}: the database is back.", worker);
                return;
            } catch (SteadworkException stillUnavailable) {
                log.debug("Worker {}: not yet: {}", worker, stillUnavailable.getMessage());
            }
        }
    }

    private void pause(Duration wait) {
        long end = System.nanoTime() + wait.toNanos();
        try {
            while (!stopping && System.nanoTime() - end < 0) {
                wakeup.await(end - System.nanoTime());
            }
        } catch (InterruptedException stopped) {
            stopping = true;
        }
    }

    private static Duration jittered(Duration interval) {
        return Duration.ofNanos(
                (long) (interval.toNanos() * ThreadLocalRandom.current().nextDouble(0.8, 1.2)));
    }

    /** Claims nothing more; returns when the loop has ended. */
    void stop() {
        stopping = true;
        wakeup.wake();
        Threads.join(thread);
        openClaims.stop();
    }
}
