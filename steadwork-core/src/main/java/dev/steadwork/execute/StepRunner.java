package dev.steadwork.execute;

import dev.steadwork.LeaseLost;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunError;
import dev.steadwork.StepBody;
import dev.steadwork.StepContext;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.TransactionBody;
import dev.steadwork.TypeRef;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Transact;
import dev.steadwork.store.Write;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
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

    /**
     * A step to execute.
     *
     * @param firstAttempt the number of its next attempt
     * @param isBeside whether it goes on beside the handler: other suspensions may win then, so its failed attempts are kept by
     *     writes of their own
     */
    record Task(StepRecord.Key key, StepKind kind, StepOptions options, int firstAttempt, boolean isBeside) {}

    /** Executes the step: its outcome, or a suspension if the run must leave its handler. */
    <T> Kept<T> run(Task task, StepBody<T> body) {
        var input = input(task);
        for (int attempt = task.firstAttempt; ; attempt++) {
            execution.checkMayGoOn();
            var startedAt = clock.now();
            @Nullable T result;
            Payload output;
            try {
                result = callBody(task, body, attempt);
                output = output(task, result);
            } catch (Suspension suspended) {
                throw suspended;
            } catch (Throwable failure) {
                var failed = afterFailure(task, attempt, input, startedAt, failure);
                if (failed != null) {
                    return new Kept<>(failed, null);
                }
                continue;
            }
            var outcome = outcome(task, StepStatus.COMPLETED, attempt, input, output, null, startedAt);
            return new Kept<>(keep(outcome), result);
        }
    }

    private <T> @Nullable T callBody(Task task, StepBody<T> body, int attempt) throws Throwable {
        var step = new Step(task.key, attempt);
        var running = execution.stepStarted(task.key.label());
        try {
            var timeout = task.options.timeout();
            return timeout == null
                    ? body.run(step)
                    : TimedCall.run(executor.threads(), task.key.label(), timeout, () -> body.run(step));
        } finally {
            execution.stepEnded(running);
        }
    }

    /** Executes a step whose outcome is kept by its own transaction. */
    <T> Kept<T> transact(Task task, TypeRef<T> type, TransactionBody<T> body) {
        var input = input(task);
        for (int attempt = task.firstAttempt; ; attempt++) {
            execution.checkMayGoOn();
            var startedAt = clock.now();
            try {
                var outcome = transactOnce(task, body, attempt, input, startedAt);
                return new Kept<>(outcome, executor.payloads().decode(outcome.output(), type));
            } catch (Transact.Failed failed) {
                var failure = failed.getCause();
                var outcome = afterFailure(task, attempt, input, startedAt, failure == null ? failed : failure);
                if (outcome != null) {
                    return new Kept<>(outcome, null);
                }
            }
        }
    }

    private <T> StepRecord transactOnce(
            Task task, TransactionBody<T> body, int attempt, Payload input, Instant startedAt) throws Transact.Failed {
        Transact work = connection -> {
            var output = output(task, callBody(task, body, connection));
            return outcome(task, StepStatus.COMPLETED, attempt, input, output, null, startedAt);
        };
        try {
            var outcome = executor.recorder()
                    .insist(
                            run.id(),
                            () -> "transactional step " + task.key.label(),
                            () -> Optional.of(executor.store().transact(run.id(), run.epoch(), task.key, work)),
                            execution::isStopped,
                            Optional.<StepRecord>empty());
            if (outcome.isPresent()) {
                return outcome.get();
            }
        } catch (LeaseLost lost) {
            execution.stop(Execution.Stop.LEASE_LOST);
        }
        throw execution.stopped();
    }

    private <T> @Nullable T callBody(Task task, TransactionBody<T> body, Connection connection) throws Exception {
        var running = execution.stepStarted(task.key.label());
        try {
            return body.run(connection);
        } finally {
            execution.stepEnded(running);
        }
    }

    /** The outcome if this was the last attempt; null when it is time for the next one. */
    private @Nullable StepRecord afterFailure(
            Task task, int attempt, Payload input, Instant startedAt, Throwable failure) {
        execution.checkNotStopped(); // which may be why it failed; a failure of its own counts before a pause
        var error = Errors.of(failure, task.key.label());
        RetryPolicy retry = task.options.retry();
        if (!Errors.mayRetry(retry, attempt, failure)) {
            return keep(outcome(task, StepStatus.FAILED, attempt, input, Payload.NONE, error, startedAt));
        }
        var failed = new AttemptRecord(task.key, task.kind, attempt, error, startedAt, clock.now());
        execution.retried();
        waitForRetry(failed, retry.delayAfter(attempt, failure, ThreadLocalRandom.current()), task.isBeside);
        return null;
    }

    private void waitForRetry(AttemptRecord failed, Duration delay, boolean isBeside) {
        // A run that is ending does not sleep: its deadline may have passed, or its cancellation been asked for.
        boolean staysHere = delay.compareTo(SHORT_WAIT) <= 0 || execution.isEnding();
        if (staysHere || isBeside) {
            heed(executor.recorder().write(new Write.SaveAttempt(run.id(), run.epoch(), failed), execution::isLost));
        }
        if (!staysHere) {
            throw new Suspension(new Write.Park(
                    run.id(),
                    run.epoch(),
                    Write.Wake.after(delay),
                    null,
                    isBeside ? null : failed,
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

    /** Keeps a step: durable when this returns. */
    StepRecord keep(StepRecord step) {
        keep(new Write.SaveStep(run.id(), run.epoch(), step));
        return step;
    }

    void keep(Write.SaveStep save) {
        heed(executor.recorder().write(save, execution::isLost));
    }

    /** Heeds what the store says about the run when it takes a write. */
    void heed(Ack ack) {
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
            Task task,
            StepStatus status,
            int attempt,
            Payload input,
            Payload output,
            @Nullable RunError error,
            Instant startedAt) {
        return new StepRecord(task.key, task.kind, status, attempt, input, output, error, startedAt, clock.now(), null);
    }

    private Payload input(Task task) {
        return executor.payloads().encode(() -> "Input of step " + where(task), task.options.input());
    }

    private Payload output(Task task, @Nullable Object result) {
        return executor.payloads().encode(() -> "Output of step " + where(task), result);
    }

    private String where(Task task) {
        return task.key.label() + " of run " + run.id();
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
