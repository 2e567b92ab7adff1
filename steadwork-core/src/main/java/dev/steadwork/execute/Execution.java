package dev.steadwork.execute;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepFailedException;
import dev.steadwork.WorkerBuilder.Handling;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.RunEnd;
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

    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final @Nullable Handling<?, ?> handling;
    private final RunExecutor executor;
    private final AtomicBoolean settled = new AtomicBoolean();
    /** The steps that are executing, the oldest first. */
    private final Queue<RunningStep> runningSteps = new ConcurrentLinkedQueue<>();

    private volatile @Nullable Stop stop;
    private volatile long stoppedAtNanos;
    private volatile boolean pauseRequested;
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

    Execution(ClaimedRun run, DatabaseClock clock, @Nullable Handling<?, ?> handling, RunExecutor executor) {
        this.run = run;
        this.clock = clock;
        this.handling = handling;
        this.executor = executor;
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

    @Override
    public void run() {
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
        if (run.cancelRequested()) {
            return cancelled();
        }
        if (isPastDeadline()) {
            return deadlineExceeded();
        }
        if (handling == null) {
            return failed(
                    RunError.NO_HANDLER_REGISTERED,
                    "The worker that claimed the run by type prefix has no handler for workflow %s. Add one, then retry the run."
                            .formatted(run.type()));
        }
        return callHandler(handling);
    }

    private <I, O> Write.@Nullable Fenced callHandler(Handling<I, O> handling) {
        var context = new RunContext(this, run, clock, executor);
        try {
            var output = handling.handler().run(context, input(handling));
            context.checkAllAwaited();
            return completed(executor.payloads().encode("Output of run " + run.id(), output));
        } catch (Suspension suspension) {
            return suspension.write();
        } catch (Throwable failure) {
            return afterFailure(context, failure);
        } finally {
            context.end();
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
        }
        if (failure instanceof StepFailedException stepFailed) {
            return failed(stepFailed.error());
        }
        var error = Errors.of(failure, null);
        if (!Errors.mayRetry(run.retry(), run.attempt(), failure)) {
            return failed(error);
        }
        var delay = run.retry().delayAfter(run.attempt(), failure, ThreadLocalRandom.current());
        log.info("Run {}: attempt {} failed, the next one is in {}: {}", id(), run.attempt(), delay, error.line());
        return new Write.Park(id(), epoch(), Write.Wake.after(delay), null, null, run.attempt() + 1, error);
    }

    private Write.Fenced completed(Payload output) {
        return isPastDeadline() ? deadlineExceeded() : finish(RunStatus.COMPLETED, output, null);
    }

    private Write.Fenced cancelled() {
        return finish(RunStatus.CANCELLED, Payload.NONE, null);
    }

    private Write.Fenced deadlineExceeded() {
        return failed(RunError.DEADLINE_EXCEEDED, "The run had not ended by its deadline " + run.deadline() + ".");
    }

    private Write.Fenced failed(String reason, String message) {
        return failed(new RunError(reason, message, null, null));
    }

    Write.Fenced failed(RunError error) {
        return finish(RunStatus.FAILED, Payload.NONE, error);
    }

    private Write.Fenced finish(RunStatus status, Payload output, @Nullable RunError error) {
        var deadLetter = error == null || handling == null
                ? null
                : executor.deadLetter(handling.workflow().options().deadLetter(), run, error);
        return new Write.Finish(id(), epoch(), status, output, error, deadLetter);
    }

    private boolean isPastDeadline() {
        var deadline = run.deadline();
        return deadline != null && !clock.now().isBefore(deadline);
    }

    /** Leaves the handler if the run must not go on: stopped, past its deadline, paused, or the worker is closing. */
    void checkMayGoOn() {
        checkNotStopped();
        if (pauseRequested) {
            throw new Suspension(new Write.Pause(id(), epoch()));
        }
        if (executor.isDraining()) {
            throw new Suspension(new Write.Release(id(), epoch()));
        }
    }

    /** Leaves the handler if the run was stopped or is past its deadline. */
    void checkNotStopped() {
        if (stop != null) {
            throw stopped();
        }
        if (isPastDeadline()) {
            throw new Suspension(deadlineExceeded());
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
        stoppedAtNanos = stop == null ? System.nanoTime() : stoppedAtNanos;
        stop = reason;
        if (handlerThread != null) {
            handlerThread.interrupt();
        }
    }

    /** Whether it was told to stop and has not, for longer than it should take. */
    public boolean isDeaf() {
        return stop != null && !settled.get() && System.nanoTime() - stoppedAtNanos > GRACE.toNanos();
    }

    /** Goes on without the handler. */
    void abandon() {
        var reason = stop;
        if (reason != null && !settled.get()) {
            log.warn("Run {}: its handler ignores being interrupted ({}); going on without it.", id(), reason);
            settle(writeFor(reason));
        }
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
    }

    /** Stores how the execution ended, once, and frees its slot. */
    private void settle(Write.@Nullable Fenced outcome) {
        if (!settled.compareAndSet(false, true)) {
            return;
        }
        try {
            if (outcome != null) {
                store(outcome);
            }
        } catch (RuntimeException | Error failure) {
            log.error(
                    "Run {}: how it ended could not be stored; it goes on when its lease has expired.", id(), failure);
        } finally {
            executor.settled(this, outcome);
        }
    }

    private void store(Write.Fenced outcome) {
        var waiting = executor.waitingFor(id());
        var ack = executor.recorder().write(outcome, this::isLost);
        switch (ack.outcome()) {
            case STORED -> {
                if (outcome instanceof Write.Finish end) {
                    waiting.accept(new RunEnd(id(), end.status(), end.output(), end.error()));
                }
            }
            case CANCEL_REQUESTED -> store(cancelled());
            case LEASE_LOST -> log.info("Run {}: another worker has it now; nothing was recorded.", id());
            case NOT_FOUND -> log.warn("Run {} no longer exists; nothing was recorded.", id());
        }
    }

    @Override
    public String toString() {
        return "run " + id() + " (" + type() + ")";
    }
}
