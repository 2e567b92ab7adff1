package dev.steadwork.execute;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.StepBody;
import dev.steadwork.StepContext;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Executes steps until their outcomes are kept, on the handler's thread or beside it. */
final class StepRunner {
    /** A retry that waits no longer than this keeps its slot; a longer one gives it back. */
    private static final Duration SHORT_WAIT = Duration.ofSeconds(1);

    private final Execution execution;
    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final RunExecutor executor;

    StepRunner(Execution execution, ClaimedRun run, DatabaseClock clock, RunExecutor executor) {
        this.execution = execution;
        this.run = run;
        this.clock = clock;
        this.executor = executor;
    }

    /** Executes the step from this attempt on: its outcome, or a suspension if the run must leave its handler. */
    <T> Kept<T> run(StepRecord.Key key, StepOptions options, StepBody<T> body, int firstAttempt) {
        return run(key, options, body, firstAttempt, false);
    }

    /** The same beside the handler: other suspensions may win, so failed attempts are kept by writes of their own. */
    <T> Kept<T> runBeside(StepRecord.Key key, StepOptions options, StepBody<T> body, int firstAttempt) {
        return run(key, options, body, firstAttempt, true);
    }

    private <T> Kept<T> run(
            StepRecord.Key key, StepOptions options, StepBody<T> body, int firstAttempt, boolean beside) {
        var input = executor.payloads().encode("Input of step " + where(key), options.input());
        for (int attempt = firstAttempt; ; attempt++) {
            execution.checkMayGoOn();
            var startedAt = clock.now();
            @Nullable T result;
            Payload output;
            try {
                result = callBody(key, options, body, attempt);
                output = executor.payloads().encode("Output of step " + where(key), result);
            } catch (Suspension suspended) {
                throw suspended;
            } catch (Throwable failure) {
                execution.checkNotStopped(); // which may be why it failed; a failure of its own counts before a pause
                var error = Errors.of(failure, key.label());
                if (!Errors.mayRetry(options.retry(), attempt, failure)) {
                    return new Kept<>(
                            keep(outcome(key, StepStatus.FAILED, attempt, input, Payload.NONE, error, startedAt)),
                            null);
                }
                var failed = new AttemptRecord(key, StepKind.FUNCTION, attempt, error, startedAt, clock.now());
                waitForRetry(failed, options.retry().delayAfter(attempt, failure, ThreadLocalRandom.current()), beside);
                continue;
            }
            return new Kept<>(
                    keep(outcome(key, StepStatus.COMPLETED, attempt, input, output, null, startedAt)), result);
        }
    }

    private <T> @Nullable T callBody(StepRecord.Key key, StepOptions options, StepBody<T> body, int attempt)
            throws Throwable {
        var step = new Step(key, attempt);
        var running = execution.stepStarted(key.label());
        try {
            var timeout = options.timeout();
            return timeout == null
                    ? body.run(step)
                    : TimedCall.run(executor.threads(), key.label(), timeout, () -> body.run(step));
        } finally {
            execution.stepEnded(running);
        }
    }

    private void waitForRetry(AttemptRecord failed, Duration delay, boolean beside) {
        boolean isShort = delay.compareTo(SHORT_WAIT) <= 0;
        if (isShort || beside) {
            heed(executor.recorder().write(new Write.SaveAttempt(run.id(), run.epoch(), failed), execution::isLost));
        }
        if (!isShort) {
            throw new Suspension(new Write.Park(
                    run.id(),
                    run.epoch(),
                    Write.Wake.after(delay),
                    null,
                    beside ? null : failed,
                    run.attempt(),
                    failed.error()));
        }
        try {
            Thread.sleep(delay.toMillis());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            execution.checkMayGoOn();
        }
    }

    /** Keeps the outcome of a step: durable when this returns. */
    StepRecord keep(StepRecord step) {
        heed(executor.recorder().write(new Write.SaveStep(run.id(), run.epoch(), step), execution::isLost));
        return step;
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
        execution.checkMayGoOn();
    }

    private StepRecord outcome(
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

    private String where(StepRecord.Key key) {
        return key.label() + " of run " + run.id();
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
