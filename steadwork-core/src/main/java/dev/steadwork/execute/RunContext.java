package dev.steadwork.execute;

import dev.steadwork.Check;
import dev.steadwork.InvalidState;
import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.StepBody;
import dev.steadwork.StepContext;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.TypeRef;
import dev.steadwork.WorkflowContext;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The durable calls of one handler: recorded ones are answered from the journal, new ones are executed and kept. */
final class RunContext implements WorkflowContext {
    /** A retry that waits no longer than this keeps its slot; a longer one gives it back. */
    private static final Duration SHORT_WAIT = Duration.ofSeconds(1);

    private final Execution execution;
    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final RunExecutor executor;
    private final Journal journal;
    private final Replayable randomness;
    private final Thread handlerThread = Thread.currentThread();
    private Instant now;
    private boolean ended;
    private @Nullable Suspension suspension;

    RunContext(Execution execution, ClaimedRun run, DatabaseClock clock, RunExecutor executor) {
        this.execution = execution;
        this.run = run;
        this.clock = clock;
        this.executor = executor;
        this.journal = new Journal(run.id(), run.steps());
        this.randomness = new Replayable(run.id());
        this.now = run.startedAt();
    }

    @Override
    public RunId runId() {
        return run.id();
    }

    @Override
    public int attempt() {
        return run.attempt();
    }

    @Override
    public long fencingToken() {
        return run.epoch();
    }

    @Override
    public Instant now() {
        return now;
    }

    @Override
    public UUID randomUuid() {
        return randomness.uuid();
    }

    @Override
    public Random random() {
        return randomness.random();
    }

    @Override
    public boolean cancelRequested() {
        return execution.isCancelRequested();
    }

    @Override
    @SuppressWarnings("NullAway") // a step may return null, and then so does its replay
    public <T> T step(String name, TypeRef<T> type, StepOptions options, StepBody<T> body) {
        Check.notNull("type of step " + name, type);
        Check.notNull("options of step " + name, options);
        Check.notNull("body of step " + name, body);
        var key = nextCall(name, StepKind.FUNCTION);
        var recorded = journal.recorded(key);
        if (recorded == null) {
            return executeStep(key, options, body, 1);
        }
        return switch (recorded.status()) {
            case COMPLETED -> {
                passed(recorded.finishedAt());
                yield executor.payloads().decode(recorded.output(), type);
            }
            case FAILED -> {
                passed(recorded.finishedAt());
                throw new StepFailedException(key.label(), errorOf(recorded));
            }
            case RETRYING, RUNNING -> executeStep(key, options, body, recorded.attempt() + 1);
        };
    }

    private <T> @Nullable T executeStep(StepRecord.Key key, StepOptions options, StepBody<T> body, int firstAttempt) {
        var input = executor.payloads().encode("Input of step " + where(key), options.input());
        for (int attempt = firstAttempt; ; attempt++) {
            gate();
            var startedAt = clock.now();
            @Nullable T result;
            Payload output;
            try {
                result = callBody(key, options, body, attempt);
                output = executor.payloads().encode("Output of step " + where(key), result);
            } catch (Suspension suspended) {
                throw suspended;
            } catch (Throwable failure) {
                gateAfterFailure();
                afterFailedAttempt(key, options.retry(), attempt, input, startedAt, failure);
                continue;
            }
            keep(finished(key, StepStatus.COMPLETED, attempt, input, output, null, startedAt));
            return result;
        }
    }

    /** Returns when it is time for the next attempt; otherwise leaves the handler or throws into it. */
    private void afterFailedAttempt(
            StepRecord.Key key, RetryPolicy retry, int attempt, Payload input, Instant startedAt, Throwable failure) {
        var error = Errors.of(failure, key.label());
        if (!Errors.mayRetry(retry, attempt, failure)) {
            keep(finished(key, StepStatus.FAILED, attempt, input, Payload.NONE, error, startedAt));
            throw new StepFailedException(key.label(), error);
        }
        var failed = new AttemptRecord(key, StepKind.FUNCTION, attempt, error, startedAt, clock.now());
        waitForRetry(failed, retry.delayAfter(attempt, failure, ThreadLocalRandom.current()));
    }

    private <T> @Nullable T callBody(StepRecord.Key key, StepOptions options, StepBody<T> body, int attempt)
            throws Throwable {
        var step = new Step(key, attempt);
        execution.stepStarted(key.label());
        try {
            var timeout = options.timeout();
            return timeout == null
                    ? body.run(step)
                    : TimedCall.run(executor.threads(), key.label(), timeout, () -> body.run(step));
        } finally {
            execution.stepEnded();
        }
    }

    private void waitForRetry(AttemptRecord failed, Duration delay) {
        if (delay.compareTo(SHORT_WAIT) > 0) {
            suspend(new Write.Park(
                    run.id(), run.epoch(), Write.Wake.after(delay), null, failed, run.attempt(), failed.error()));
        }
        heed(executor.recorder().write(new Write.SaveAttempt(run.id(), run.epoch(), failed), execution::isLost));
        try {
            Thread.sleep(delay.toMillis());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            gate();
        }
    }

    @Override
    public void sleep(String name, Duration duration) {
        Check.notNegative("duration of sleep " + name, duration);
        sleep(name, Write.Wake.after(duration), duration.isZero());
    }

    @Override
    public void sleepUntil(String name, Instant time) {
        Check.time("time of sleep " + name, time);
        sleep(name, Write.Wake.at(time.truncatedTo(ChronoUnit.MICROS)), !time.isAfter(clock.now()));
    }

    private void sleep(String name, Write.Wake wake, boolean over) {
        var key = nextCall(name, StepKind.SLEEP);
        var recorded = journal.recorded(key);
        if (recorded != null) {
            var wakeAt = recorded.wakeAt();
            if (wakeAt != null && clock.now().isBefore(wakeAt)) {
                park(Write.Wake.at(wakeAt), null);
            }
            passed(wakeAt);
        } else if (over) {
            keep(sleepRecord(key, clock.now()));
        } else {
            park(wake, sleepRecord(key, null));
        }
    }

    private void park(Write.Wake wake, @Nullable StepRecord sleep) {
        suspend(new Write.Park(run.id(), run.epoch(), wake, sleep, null, run.attempt(), null));
    }

    private StepRecord sleepRecord(StepRecord.Key key, @Nullable Instant wakeAt) {
        return new StepRecord(
                key,
                StepKind.SLEEP,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                Payload.NONE,
                null,
                clock.now(),
                wakeAt,
                wakeAt);
    }

    private StepRecord finished(
            StepRecord.Key key,
            StepStatus status,
            int attempt,
            Payload input,
            Payload output,
            @Nullable RunError error,
            Instant startedAt) {
        return new StepRecord(
                key, StepKind.FUNCTION, status, attempt, input, output, error, startedAt, clock.now(), null);
    }

    /** Keeps the outcome of a step: durable when this returns. */
    private void keep(StepRecord step) {
        var ack = executor.recorder().write(new Write.SaveStep(run.id(), run.epoch(), step), execution::isLost);
        passed(step.finishedAt());
        heed(ack);
    }

    /** Heeds what the store says about the run when it takes a write. */
    private void heed(Ack ack) {
        switch (ack.outcome()) {
            case STORED -> {
                if (ack.cancelRequested()) {
                    execution.stop(Execution.Stop.CANCEL);
                }
                if (ack.pauseRequested()) {
                    execution.requestPause();
                }
            }
            case CANCEL_REQUESTED -> execution.stop(Execution.Stop.CANCEL);
            case LEASE_LOST, NOT_FOUND -> execution.stop(Execution.Stop.LEASE_LOST);
        }
        gate();
    }

    private StepRecord.Key nextCall(String name, StepKind kind) {
        Check.name("step name", name);
        if (ended) {
            throw new InvalidState(
                    "Run %s: its handler has ended, so '%s' cannot be called any more.".formatted(run.id(), name));
        }
        if (Thread.currentThread() != handlerThread || execution.runningStep() != null) {
            throw new InvalidState(
                    "Run %s: '%s' was called inside a step or from another thread. Durable calls belong to the handler's own thread, one after the other; call it before or after the step."
                            .formatted(run.id(), name));
        }
        gate();
        try {
            return journal.next(name, kind);
        } catch (NonDeterministicWorkflow strayed) {
            // Not thrown as it is: a handler that catches exceptions must not go on beside its record.
            suspension = new Suspension(execution.failed(Errors.of(strayed, null)));
            throw suspension;
        }
    }

    /** Leaves the handler if the run must not go on, now and at every further durable call. */
    void gate() {
        leaveIf(execution::checkMayGoOn);
    }

    /** Leaves the handler if it was stopped, which may be why it failed. A failure of its own counts before a pause. */
    void gateAfterFailure() {
        leaveIf(execution::checkNotStopped);
    }

    private void leaveIf(Runnable check) {
        rethrowSuspension();
        try {
            check.run();
        } catch (Suspension leave) {
            suspension = leave;
            throw leave;
        }
    }

    private void suspend(Write.Fenced write) {
        suspension = new Suspension(write);
        throw suspension;
    }

    /** A handler that caught a suspension and went on is still suspended. */
    void rethrowSuspension() {
        if (suspension != null) {
            throw suspension;
        }
    }

    void end() {
        ended = true;
    }

    private void passed(@Nullable Instant time) {
        if (time != null && time.isAfter(now)) {
            now = time;
        }
    }

    private String where(StepRecord.Key key) {
        return key.label() + " of run " + run.id();
    }

    private static RunError errorOf(StepRecord failed) {
        var error = failed.error();
        return error != null
                ? error
                : new RunError("unknown", null, failed.key().label(), null);
    }

    /** What a step's body sees of its run. */
    private final class Step implements StepContext {
        private final StepRecord.Key key;
        private final int attempt;

        Step(StepRecord.Key key, int attempt) {
            this.key = key;
            this.attempt = attempt;
        }

        @Override
        public String idempotencyKey() {
            return run.id() + "/" + key.label();
        }

        @Override
        public int attempt() {
            return attempt;
        }

        @Override
        public long fencingToken() {
            return run.epoch();
        }

        @Override
        public boolean cancelRequested() {
            return execution.isCancelRequested();
        }
    }
}
