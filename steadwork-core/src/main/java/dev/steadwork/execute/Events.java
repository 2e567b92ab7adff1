package dev.steadwork.execute;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Received;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Takes signals out of a run's inbox, and waits for those that have not come. */
final class Events {
    private final Execution execution;
    private final ClaimedRun run;
    private final RunExecutor executor;
    private final DatabaseClock clock;

    Events(Execution execution, ClaimedRun run, RunExecutor executor, DatabaseClock clock) {
        this.execution = execution;
        this.run = run;
        this.executor = executor;
        this.clock = clock;
    }

    /** The oldest signal of that name. */
    Received received(String name) {
        var nothing = new Received(0, null);
        return executor.recorder()
                .insist(
                        run.id(),
                        () -> "looking for signal " + name,
                        () -> executor.store().received(run.id(), name),
                        execution::isStopped,
                        nothing);
    }

    /** The step that takes this signal. */
    Write.SaveStep taking(StepRecord.Key key, @Nullable StepRecord waiting, Received.Signal signal) {
        var step = ended(key, waiting, StepStatus.COMPLETED, signal.payload(), null);
        return new Write.SaveStep(run.id(), run.epoch(), step, null, signal.number());
    }

    /** The step that has waited in vain. */
    StepRecord timedOut(StepRecord.Key key, @Nullable StepRecord waiting, Duration timeout) {
        var message = "No signal '%s' came to run %s within %s.".formatted(key.name(), run.id(), timeout);
        var error = new RunError(RunError.AWAIT_TIMEOUT, message, key.label(), null);
        return ended(key, waiting, StepStatus.FAILED, Payload.NONE, error);
    }

    private StepRecord ended(
            StepRecord.Key key,
            @Nullable StepRecord waiting,
            StepStatus status,
            Payload output,
            @Nullable RunError error) {
        var now = clock.now();
        var startedAt = waiting == null ? now : waiting.startedAt();
        return new StepRecord(key, StepKind.EVENT, status, 1, Payload.NONE, output, error, startedAt, now, null);
    }

    /** The step that waits; without a time if it takes that of the run. */
    StepRecord waiting(StepRecord.Key key, @Nullable Instant until) {
        return new StepRecord(
                key, StepKind.EVENT, StepStatus.WAITING, 1, Payload.NONE, Payload.NONE, null, clock.now(), null, until);
    }

    Write.Park park(String name, Write.Wake wake, @Nullable StepRecord waiting, Received received) {
        var awaits = new Write.Awaits(Write.Awaits.signal(name), received.inbox());
        return new Write.Park(run.id(), run.epoch(), wake, waiting, null, run.attempt(), null, awaits);
    }
}
