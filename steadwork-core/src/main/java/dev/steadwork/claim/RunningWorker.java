package dev.steadwork.claim;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.SteadworkException;
import dev.steadwork.Worker;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import dev.steadwork.codec.Payloads;
import dev.steadwork.execute.Availability;
import dev.steadwork.execute.DeadLetterRuns;
import dev.steadwork.execute.Ending;
import dev.steadwork.execute.Execution;
import dev.steadwork.execute.Opening;
import dev.steadwork.execute.RunExecutor;
import dev.steadwork.store.Committer;
import dev.steadwork.store.Definition;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Observers;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.WorkerRegistration;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker of this process: its loop, its leases and its end. */
public final class RunningWorker implements Worker {
    private static final Logger log = LoggerFactory.getLogger(RunningWorker.class);
    /** How long an interrupted handler may take to leave by itself when the worker closes. */
    private static final Duration LEAVE_WAIT = Duration.ofSeconds(1);

    private final Store store;
    private final Observers observers;
    private final WorkerRegistration registration;
    private final WorkerBuilder.Spec spec;
    private final Slots slots;
    private final RunExecutor executor;
    private final LeaseKeeper keeper;
    private final OpenClaims openClaims;
    private final ClaimLoop loop;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread shutdownHook;
    private Signals.@Nullable Subscription loopSignals;
    private Signals.@Nullable Subscription keeperSignals;

    /** What the worker needs of the engine around it. */
    public record Surroundings(
            Store store,
            Committer committer,
            Payloads payloads,
            String namespace,
            Workflow.Lease lease,
            Duration pollInterval,
            int crashBudget,
            Function<RunId, Ending> endings,
            Observers observers) {
        /** Without observers. */
        public Surroundings(
                Store store,
                Committer committer,
                Payloads payloads,
                String namespace,
                Workflow.Lease lease,
                Duration pollInterval,
                int crashBudget,
                Function<RunId, Ending> endings) {
            this(store, committer, payloads, namespace, lease, pollInterval, crashBudget, endings, new Observers());
        }
    }

    public RunningWorker(Surroundings engine, WorkerBuilder.Spec spec) {
        this.store = engine.store();
        this.observers = engine.observers();
        this.spec = spec;
        this.registration = registration(engine.namespace(), spec);
        var shares = Share.of(spec, engine.lease());
        var availability = new Availability();
        var deadLetters = new DeadLetterRuns(engine.namespace(), engine.payloads());
        this.slots = new Slots(spec.concurrency(), spec.limits());
        this.executor = new RunExecutor(
                spec.handlers(),
                engine.payloads(),
                store,
                engine.committer(),
                availability,
                deadLetters,
                engine.crashBudget(),
                this::returned,
                this::left,
                this::settled,
                engine.endings(),
                observers);
        var limitedQueues =
                new LimitedQueues(store, engine.namespace(), engine.lease().heartbeat());
        this.keeper = new LeaseKeeper(
                store,
                engine.namespace(),
                registration.id(),
                engine.lease(),
                shares,
                executor,
                availability,
                limitedQueues,
                this::heard);
        this.openClaims =
                new OpenClaims(store, executor, observers, registration.id(), spec.concurrency(), this::lookAgain);
        this.loop = new ClaimLoop(
                store,
                engine.namespace(),
                registration.id(),
                spec,
                shares,
                slots,
                limitedQueues,
                keeper,
                executor,
                openClaims,
                observers,
                (execution, share) -> keeper.hold(execution, share.lease()),
                engine.pollInterval());
        this.shutdownHook = new Thread(this::close, "steadwork-shutdown-" + registration.id());
    }

    private static WorkerRegistration registration(String namespace, WorkerBuilder.Spec spec) {
        var host = HostName.get();
        long pid = ProcessHandle.current().pid();
        return new WorkerRegistration(
                namespace,
                host + "/" + pid + "/" + spec.name(),
                spec.name(),
                host,
                pid,
                ClaimLoop.namedQueues(spec).stream().sorted().toList(),
                spec.handlers().keySet().stream().sorted().toList(),
                spec.typePrefixes().stream().sorted().toList(),
                spec.versions().stream().sorted().toList(),
                spec.concurrency(),
                spec.buildVersion(),
                spec.labels());
    }

    /** Registers the worker and its workflows and starts to claim. */
    public RunningWorker start() {
        var definitions = spec.handlers().values().stream()
                .map(handling -> Definition.of(handling.workflow()))
                .toList();
        store.register(registration.namespace(), definitions);
        store.registerWorker(registration);
        loopSignals = store.signals().subscribe(loop);
        keeperSignals = store.signals().subscribe(keeper);
        keeper.start();
        loop.start();
        Runtime.getRuntime().addShutdownHook(shutdownHook);
        log.info("Worker {} serves {} with {} slots.", id(), spec.handlers().keySet(), spec.concurrency());
        return this;
    }

    @Override
    public String id() {
        return registration.id();
    }

    @Override
    public int active() {
        return slots.used();
    }

    /** A slot for a run that is being created, if this worker would claim it at once. */
    public @Nullable Opening openingFor(NewRun run) {
        return loop.openingFor(run);
    }

    public boolean executes(RunId run) {
        return keeper.holds(run);
    }

    /** What the registry has to say, with every heartbeat. */
    private void heard(HeartbeatAnswer.Entry entry) {
        loop.drain(entry == HeartbeatAnswer.Entry.DRAIN);
        if (entry == HeartbeatAnswer.Entry.MISSING) {
            log.warn("Worker {} had been forgotten; it registers again.", id());
            store.registerWorker(registration.reading(loop.queues()));
        }
    }

    private void returned(Execution execution) {
        openClaims.returned(execution);
    }

    /** @param stored what the database keeps of how it ended; null if nothing */
    private void settled(Execution execution, Write.@Nullable Fenced stored) {
        keeper.letGo(execution);
        if (stored instanceof Write.Finish end) {
            observers.runEnded(execution.type(), end.status());
            if (end.status() == RunStatus.COMPLETED) {
                keeper.countCompleted();
            } else if (end.status() == RunStatus.FAILED) {
                keeper.countFailed();
            }
        }
        if (execution.hasLostLease()) {
            observers.leaseLost(execution.type());
        }
        openClaims.settled(execution);
    }

    private void left(Execution execution) {
        slots.release(execution.type());
        loop.slotFreed();
    }

    private void lookAgain() {
        loop.gap();
    }

    private boolean isIdle() {
        return slots.used() == 0 && keeper.executions().isEmpty();
    }

    @Override
    public void join() {
        try {
            ended.await();
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
            throw new CancellationException("Interrupted while waiting for worker " + id() + " to end.");
        }
    }

    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) {
            awaitEnded();
            return;
        }
        removeShutdownHook();
        loop.stop();
        executor.drain();
        keeper.drain();
        if (!waitUntil(this::isIdle, spec.drainTimeout())) {
            handBack();
        }
        keeper.stop();
        deregister();
        executor.close();
        ended.countDown();
        log.info("Worker {} has ended.", id());
    }

    /** The drain timeout is over: other workers go on with what is left, at once. */
    private void handBack() {
        var left = keeper.executions();
        log.warn("Worker {}: handing back {} runs that did not reach a checkpoint in time.", id(), left.size());
        left.forEach(execution -> execution.stop(Execution.Stop.RELEASE));
        if (!waitUntil(this::isIdle, LEAVE_WAIT)) {
            keeper.executions().forEach(executor::abandon);
            waitUntil(this::isIdle, LEAVE_WAIT);
        }
    }

    private void deregister() {
        try {
            keeper.beat();
            store.deregisterWorker(registration.namespace(), id());
        } catch (SteadworkException unavailable) {
            log.warn(
                    "Worker {} could not be deregistered; it counts as stale soon: {}", id(), unavailable.getMessage());
        }
        if (loopSignals != null && keeperSignals != null) {
            loopSignals.close();
            keeperSignals.close();
        }
    }

    private void awaitEnded() {
        try {
            ended.await();
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
        }
    }

    private void removeShutdownHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException alreadyShuttingDown) {
            log.debug("Worker {} drains because the JVM shuts down.", id());
        }
    }

    /** Waits for something that settled runs bring about; an interrupt ends the wait and is kept. */
    private static boolean waitUntil(BooleanSupplier condition, Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - end >= 0) {
                    return false;
                }
                TimeUnit.MILLISECONDS.sleep(5);
            }
            return true;
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
            return condition.getAsBoolean();
        }
    }
}
