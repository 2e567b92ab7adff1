package dev.steadwork.execute;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.WorkerBuilder.Handling;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One claimed run on this worker, from its claim to the write that ends it, parks it or hands it back. */
public final class Execution implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Execution.class);
    /** How long a handler may take to heed its interrupt. */
    private static final Duration GRACE = Duration.ofSeconds(5);
    /** A handler that takes less, and makes no durable call, is worth waiting for. */
    public static final Duration SHORT = Duration.ofMillis(10);

    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final @Nullable Handling<?, ?> handling;
    private final RunExecutor executor;
    /** The claim that has yet to be kept; null if it was from the beginning. */
    private final @Nullable OpenRuns open;

    private final AtomicBoolean settled = new AtomicBoolean();
    /** The steps that are executing, the oldest first. */
    private final Queue<RunningStep> runningSteps = new ConcurrentLinkedQueue<>();

    private volatile @Nullable Stop stop;
    private volatile long stoppedAtNanos;
    private volatile boolean pauseRequested;
    private volatile boolean compensates;
    private volatile boolean leaseLost;
    private volatile boolean hasChildren;
    private volatile boolean madeDurableCall;
    private volatile boolean wasShort;
    /** How the run ends when its undo steps are executed: from then on nothing but its worker's end stops it. */
    private volatile Write.@Nullable Finish ending;

    private @Nullable Thread handlerThread;

    /** Why an execution must not go on, the later ones more pressing than the earlier. */
    public enum Stop {
        CANCEL,
        DEADLINE,
        RELEASE,
        LEASE_LOST
    }

    /** A step that is executing, and since when by the monotonic clock. */
    public record RunningStep(String name, long sinceNanos) {}

    Execution(
            ClaimedRun run,
            DatabaseClock clock,
            @Nullable Handling<?, ?> handling,
            RunExecutor executor,
            @Nullable OpenRuns open) {
        this.run = run;
        this.clock = clock;
        this.handling = handling;
        this.executor = executor;
        this.open = open;
        this.compensates = run.compensates();
        this.hasChildren = run.steps().stream().anyMatch(Execution::isChild);
    }

    private static boolean isChild(StepRecord step) {
        return step.kind() == StepKind.CHILD && step.status() == StepStatus.WAITING;
    }

    public RunId id() {
        return run.id();
    }

    public String type() {
        return run.type();
    }

    public long epoch() {
        return run.epoch();
    }

    /** The step that has been executing for longest, if one is. */
    public @Nullable RunningStep runningStep() {
        return runningSteps.peek();
    }

    /** How long until the run's deadline, by the database's clock; null if it has none. */
    public @Nullable Duration untilDeadline() {
        var deadline = run.deadline();
        return deadline == null ? null : Duration.between(clock.now(), deadline);
    }

    /** Whether the worker holds the run: its claim is kept. */
    public boolean isHeld() {
        return open == null || open.isHeld(id());
    }

    /** Whether it took a moment only, and could be claimed and ended at once. */
    public boolean wasShort() {
        return wasShort && !leaseLost;
    }

    @Override
    public void run() {
        long began = System.nanoTime();
        enter();
        Write.Fenced outcome = null;
        try {
            outcome = outcome();
        } catch (Throwable fault) {
            log.error(
                    "Run {}: nothing is recorded because of a fault; it goes on when its lease has expired.",
                    id(),
                    fault);
        } finally {
            leave();
        }
        wasShort = !madeDurableCall && OpenRuns.isPlain(outcome) && System.nanoTime() - began < SHORT.toNanos();
        executor.returned(this);
        settle(outcome);
    }

    private synchronized void enter() {
        handlerThread = Thread.currentThread();
        if (stop != null) {
            handlerThread.interrupt();
        }
    }

    private synchronized void leave() {
        handlerThread = null;
        Thread.interrupted(); // meant for the handler: it must reach neither the last write nor the thread's next task
    }

    private Write.@Nullable Fenced outcome() {
        if (run.lostLeases() > executor.crashBudget()) {
            return failed(
                    RunError.WORKER_LOST,
                    "%d workers were lost while they executed this run, its crash budget is %d. Find out what it does to its workers, then retry it."
                            .formatted(run.lostLeases(), executor.crashBudget()));
        }
        var decided = decided();
        if (decided != null && !compensates) {
            return decided;
        }
        if (decided != null) {
            beginEnding(decided); // it may have been told to stop meanwhile, for the same reason
        }
        if (handling == null) {
            return failed(
                    RunError.NO_HANDLER_REGISTERED,
                    "The worker that claimed the run by type prefix has no handler for workflow %s. Add one, then retry the run."
                            .formatted(run.type()));
        }
        return callHandler(handling);
    }

    /** How the run ends whatever its handler does; null if the handler decides. */
    private Write.@Nullable Finish decided() {
        var decision = run.steps().stream()
                .filter(step -> step.kind() == StepKind.UNDO && step.key().occurrence() == StepRecord.Key.DECISION)
                .findFirst();
        if (decision.isPresent()) {
            var error = decision.get().error();
            return error == null ? cancelled() : failed(error);
        }
        if (run.cancelRequested()) {
            return cancelled();
        }
        return isPastDeadline() ? deadlineExceeded() : null;
    }

    private <I, O> Write.@Nullable Fenced callHandler(Handling<I, O> handling) {
        var context = new RunContext(this, run, clock, executor);
        try {
            var outcome = call(context, handling);
            var decided = ending;
            if (decided != null && (outcome instanceof Write.Finish || outcome instanceof Write.Park)) {
                outcome = decided;
            }
            if (outcome instanceof Write.Finish end) {
                return isStoppedTooEarly(context) ? new Write.Release(id(), epoch()) : context.compensated(end);
            }
            return outcome;
        } catch (Suspension leave) {
            return leave.write();
        } finally {
            context.end();
        }
    }

    /** Stopped before it has registered again what there is to undo: whoever claims the run next knows that from the beginning. */
    private boolean isStoppedTooEarly(RunContext context) {
        return ending == null && (stop == Stop.CANCEL || stop == Stop.DEADLINE) && context.lacksUndos();
    }

    private <I, O> Write.@Nullable Fenced call(RunContext context, Handling<I, O> handling) {
        try {
            var output = handling.handler().run(context, input(handling));
            context.checkAllAwaited();
            return completed(executor.payloads().encode(() -> "Output of run " + run.id(), output));
        } catch (Suspension suspension) {
            return suspension.write();
        } catch (Throwable failure) {
            return afterFailure(context, failure);
        }
    }

    @SuppressWarnings("NullAway") // an input that was not given reaches the handler as null
    private <I> I input(Handling<I, ?> handling) {
        return executor.payloads().decode(run.input(), handling.workflow().inputType());
    }

    private Write.@Nullable Fenced afterFailure(RunContext context, Throwable failure) {
        try {
            context.settle();
        } catch (Suspension suspension) {
            return suspension.write();
        } catch (RuntimeException another) {
            log.debug("Run {}: a second failure after its first.", id(), another);
        }
        if (failure instanceof StepFailedException stepFailed) {
            return failed(errorOf(stepFailed));
        }
        if (failure instanceof AwaitTimeoutException late) {
            return failed(RunError.AWAIT_TIMEOUT, String.valueOf(late.getMessage()));
        }
        var error = Errors.of(failure, null);
        if (!Errors.mayRetry(run.retry(), run.attempt(), failure)) {
            return failed(error);
        }
        var delay = run.retry().delayAfter(run.attempt(), failure, ThreadLocalRandom.current());
        retried();
        log.info("Run {}: attempt {} failed, the next one is in {}: {}", id(), run.attempt(), delay, error.line());
        return new Write.Park(id(), epoch(), Write.Wake.after(delay), null, null, run.attempt() + 1, error);
    }

    /** Names the step of this run also if the error is that of a child. */
    private static RunError errorOf(StepFailedException failed) {
        var error = failed.error();
        return new RunError(error.type(), error.message(), failed.step(), error.stackTrace());
    }

    private Write.Finish completed(Payload output) {
        return isPastDeadline() ? deadlineExceeded() : finish(RunStatus.COMPLETED, output, null);
    }

    private Write.Finish cancelled() {
        return finish(RunStatus.CANCELLED, Payload.NONE, null);
    }

    private Write.Finish deadlineExceeded() {
        return failed(RunError.DEADLINE_EXCEEDED, "The run had not ended by its deadline " + run.deadline() + ".");
    }

    private Write.Finish failed(String reason, String message) {
        return failed(new RunError(reason, message, null, null));
    }

    Write.Finish failed(RunError error) {
        return finish(RunStatus.FAILED, Payload.NONE, error);
    }

    /** An end with another error than was thought. */
    Write.Finish ended(RunStatus status, RunError error) {
        return finish(status, Payload.NONE, error);
    }

    private Write.Finish finish(RunStatus status, Payload output, @Nullable RunError error) {
        var deadLetter = status != RunStatus.FAILED || error == null || handling == null
                ? null
                : executor.deadLetter(handling.workflow().options().deadLetter(), run, error);
        boolean endsChildren = hasChildren && status != RunStatus.COMPLETED;
        return new Write.Finish(id(), epoch(), status, output, error, deadLetter, run.parent(), endsChildren);
    }

    private boolean isPastDeadline() {
        var deadline = run.deadline();
        return deadline != null && !clock.now().isBefore(deadline);
    }

    /**
     * Leaves the handler if the run must not go on: not held, stopped, past its deadline, paused, or the worker is closing.
     */
    void checkMayGoOn() {
        awaitHeld();
        checkNotStopped();
        if (pauseRequested && ending == null) {
            throw new Suspension(new Write.Pause(id(), epoch()));
        }
        if (executor.isDraining()) {
            throw new Suspension(new Write.Release(id(), epoch()));
        }
    }

    /** Waits until the run is held, if its claim is still open. One that is lost is stopped. */
    void awaitHeld() {
        madeDurableCall = true;
        if (open != null && !open.await(id())) {
            throw stopped();
        }
    }

    /** Leaves the handler if the run was stopped or is past its deadline. */
    void checkNotStopped() {
        if (stop != null) {
            throw stopped();
        }
        if (ending == null && isPastDeadline()) {
            throw new Suspension(deadlineExceeded());
        }
    }

    Write.@Nullable Finish ending() {
        return ending;
    }

    /** Whether the run only executes its undo steps and then ends. */
    boolean isEnding() {
        return ending != null;
    }

    /** Undo steps are registered: the run must not end without them. */
    void compensates() {
        compensates = true;
    }

    void hasChildren() {
        hasChildren = true;
    }

    /** From now on the run executes its undo steps: what stopped the handler does not stop them. */
    synchronized void beginEnding(Write.Finish end) {
        ending = end;
        if (stop == Stop.CANCEL || stop == Stop.DEADLINE) {
            stop = null;
        }
        Thread.interrupted(); // was meant for the handler
    }

    /** Leaves if the run goes to another worker, or has gone. */
    void checkNotLeaving() {
        if (stop == Stop.RELEASE || stop == Stop.LEASE_LOST) {
            throw stopped();
        }
    }

    boolean isStopped() {
        return stop != null;
    }

    /** How the run leaves its handler when it was told to stop. */
    Suspension stopped() {
        var reason = stop;
        return new Suspension(reason == null ? null : writeFor(reason));
    }

    private Write.@Nullable Fenced writeFor(Stop reason) {
        return switch (reason) {
            case CANCEL -> cancelled();
            case DEADLINE -> deadlineExceeded();
            case RELEASE -> new Write.Release(id(), epoch());
            case LEASE_LOST -> null;
        };
    }

    /** Stops the execution: interrupts the handler now, and its durable calls go no further. */
    public synchronized void stop(Stop reason) {
        if (settled.get() || (stop != null && stop.compareTo(reason) >= 0)) {
            return;
        }
        if (ending != null && (reason == Stop.CANCEL || reason == Stop.DEADLINE)) {
            return;
        }
        stoppedAtNanos = stop == null ? System.nanoTime() : stoppedAtNanos;
        stop = reason;
        if (handlerThread != null) {
            handlerThread.interrupt();
        }
    }

    /** Whether it was told to stop and has not, for longer than it should take. */
    public boolean isDeaf() {
        var reason = stop;
        boolean mustCompensate = compensates && (reason == Stop.CANCEL || reason == Stop.DEADLINE);
        return reason != null
                && !mustCompensate
                && !settled.get()
                && System.nanoTime() - stoppedAtNanos > GRACE.toNanos();
    }

    /** Goes on without the handler. */
    void abandon() {
        var reason = stop;
        if (reason != null && !settled.get()) {
            log.warn("Run {}: its handler ignores being interrupted ({}); going on without it.", id(), reason);
            settle(writeFor(reason));
        }
    }

    /** Whether another worker took the run over. */
    public boolean hasLostLease() {
        return leaseLost || stop == Stop.LEASE_LOST;
    }

    /** An attempt failed and is tried again. */
    void retried() {
        executor.observers().retried(type());
    }

    /** The run stops at its next durable call. */
    public void requestPause() {
        pauseRequested = true;
    }

    boolean isCancelRequested() {
        return stop == Stop.CANCEL;
    }

    /** Whether writing for this run is pointless: it is someone else's. */
    boolean isLost() {
        return stop == Stop.LEASE_LOST || executor.isClosed();
    }

    RunningStep stepStarted(String name) {
        var step = new RunningStep(name, System.nanoTime());
        runningSteps.add(step);
        return step;
    }

    void stepEnded(RunningStep step) {
        runningSteps.remove(step);
        executor.observers().stepExecuted(type(), Duration.ofNanos(System.nanoTime() - step.sinceNanos()));
    }

    /** Stores how the execution ended, once, and frees its slot. */
    private void settle(Write.@Nullable Fenced outcome) {
        if (!settled.compareAndSet(false, true)) {
            return;
        }
        if (open == null) {
            conclude(outcome);
        } else if (open.end(this, outcome)) {
            executor.left(this); // what is left to do is to write it
        } else {
            leaseLost |= !open.await(id());
            conclude(leaseLost ? null : outcome);
        }
    }

    private void conclude(Write.@Nullable Fenced outcome) {
        try (var ending = lastWrite()) {
            Write.Fenced stored = null;
            try {
                stored = outcome == null ? null : store(outcome);
            } catch (RuntimeException | Error failure) {
                log.error(
                        "Run {}: how it ended could not be stored; it goes on when its lease has expired.",
                        id(),
                        failure);
            } finally {
                executor.settled(this, stored);
                executor.left(this);
            }
            tell(ending, stored);
        }
    }

    Ending lastWrite() {
        return executor.ending(id());
    }

    /** The end was stored together with the claim, or is null because the run was not held. */
    void ended(Ending ending, Write.@Nullable Finish stored) {
        leaseLost |= stored == null;
        executor.settled(this, stored);
        tell(ending, stored);
    }

    /** Whoever waits is told when the slot is free: the next run may want it. */
    private void tell(Ending ending, Write.@Nullable Fenced stored) {
        if (stored instanceof Write.Finish end) {
            ending.stored(endOf(end));
        }
    }

    private RunEnd endOf(Write.Finish end) {
        return new RunEnd(id(), end.status(), end.output(), end.error());
    }

    /** Returns what is kept of it in the end, which is a cancellation if that came first. */
    private Write.@Nullable Fenced store(Write.Fenced outcome) {
        var ack = executor.recorder().write(outcome, this::isLost);
        switch (ack.outcome()) {
            case STORED -> {
                return outcome;
            }
            case CANCEL_REQUESTED -> {
                return store(cancelledInsteadOf(outcome));
            }
            case LEASE_LOST -> {
                leaseLost = true;
                log.info("Run {}: another worker has it now; nothing was recorded.", id());
            }
            case NOT_FOUND -> log.warn("Run {} no longer exists; nothing was recorded.", id());
        }
        return null;
    }

    /** With undo steps it goes to whoever claims it next, who finds the request and executes them. */
    private Write.Fenced cancelledInsteadOf(Write.Fenced outcome) {
        if (compensates && ending == null && run.lostLeases() <= executor.crashBudget()) {
            return new Write.Release(id(), epoch());
        }
        return finish(RunStatus.CANCELLED, Payload.NONE, outcome instanceof Write.Finish end ? end.error() : null);
    }

    @Override
    public String toString() {
        return "run " + id() + " (" + type() + ")";
    }
}
