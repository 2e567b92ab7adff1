package dev.steadwork.execute;

import dev.steadwork.InvalidState;
import dev.steadwork.RunId;
import dev.steadwork.store.Write;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Where every durable call passes, or leaves the handler instead. Belongs to the handler's thread. */
final class Gate {
    private final Execution execution;
    private final Branches branches;
    private final DatabaseClock clock;
    private final Thread handlerThread = Thread.currentThread();
    private boolean inStep;
    private boolean ended;
    private @Nullable Suspension suspension;

    Gate(Execution execution, Branches branches, DatabaseClock clock) {
        this.execution = execution;
        this.branches = branches;
        this.clock = clock;
    }

    /** Refuses a call that does not come from the handler itself. */
    void check(String call) {
        if (ended) {
            throw new InvalidState(
                    "Run %s: its handler has ended, so %s cannot be called any more.".formatted(run(), call));
        }
        if (Thread.currentThread() != handlerThread || inStep) {
            throw new InvalidState(
                    "Run %s: %s was called inside a step or from another thread. Durable calls belong to the handler's own thread, outside of steps: call it before or after the step; for parallel work use ctx.async(...) or ctx.map(...)."
                            .formatted(run(), call));
        }
    }

    /** Lets the handler go on, or leaves it: now and at every further durable call. */
    void pass() {
        leaveIf(execution::checkMayGoOn);
    }

    /** A call that has not ended before: a run that is ending makes none. */
    void passNew() {
        var end = execution.ending();
        if (end != null) {
            throw leaving(end);
        }
    }

    /** Leaves the handler if it was stopped. A failure of its own counts before a pause. */
    void passUnlessStopped() {
        leaveIf(execution::checkNotStopped);
    }

    private void leaveIf(Runnable check) {
        rethrow();
        try {
            check.run();
        } catch (Suspension leave) {
            throw leaving(leave);
        }
    }

    /** Executes user code, during which no durable call is allowed. */
    <T> T inStep(Supplier<T> step) {
        inStep = true;
        try {
            return step.get();
        } catch (Suspension leave) {
            throw leaving(leave);
        } finally {
            inStep = false;
        }
    }

    /** Leaves the handler with this write. */
    Suspension leaving(Write.Fenced write) {
        return leaving(new Suspension(write));
    }

    /** The suspension to throw. What goes on beside the handler ends first, unless the run was told to stop. */
    Suspension leaving(Suspension leave) {
        if (suspension == null) {
            suspension = settled(leave);
        }
        return suspension;
    }

    private Suspension settled(Suspension leave) {
        try {
            var settled = execution.isStopped() ? leave : branches.settle(leave, clock);
            return execution.isStopped() && settled.write() instanceof Write.Park ? execution.stopped() : settled;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return execution.isStopped() ? execution.stopped() : leave;
        }
    }

    /** A handler that caught a suspension and went on is still suspended. */
    void rethrow() {
        if (suspension != null) {
            throw suspension;
        }
    }

    void end() {
        ended = true;
    }

    private RunId run() {
        return execution.id();
    }
}
