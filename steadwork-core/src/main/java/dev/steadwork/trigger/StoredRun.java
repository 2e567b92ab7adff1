package dev.steadwork.trigger;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.Check;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RunCancelledException;
import dev.steadwork.RunError;
import dev.steadwork.RunEvent;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.SteadworkException;
import dev.steadwork.StepInfo;
import dev.steadwork.TypeRef;
import dev.steadwork.Waiting;
import dev.steadwork.store.By;
import dev.steadwork.store.Operations;
import dev.steadwork.store.RunEnd;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A run as the store knows it. */
public record StoredRun<O>(Engine engine, RunId id, TypeRef<O> outputType, boolean alreadyExisted, By asking)
        implements RunHandle<O> {

    public StoredRun(Engine engine, RunId id, TypeRef<O> outputType, boolean alreadyExisted) {
        this(engine, id, outputType, alreadyExisted, By.NOBODY);
    }

    @Override
    public RunHandle<O> by(String actor, @Nullable String reason) {
        return new StoredRun<>(engine, id, outputType, alreadyExisted, By.checked(actor, reason));
    }

    private Operations asked() {
        return engine.store().by(asking);
    }

    @Override
    public RunStatus status() {
        return info().status();
    }

    @Override
    public RunInfo info() {
        return found(engine.store().find(id));
    }

    @Override
    public Payload input() {
        return found(engine.store().input(id));
    }

    @Override
    public Waiting waiting() {
        return found(engine.store().waiting(id));
    }

    @Override
    public List<StepInfo> steps() {
        var steps = engine.store().steps(id);
        if (steps.isEmpty()) {
            info(); // tells a run without steps from no run
        }
        return steps;
    }

    @Override
    public List<RunEvent> events() {
        var events = engine.store().events(id);
        if (events.isEmpty()) {
            info(); // tells a run without events from no run
        }
        return events;
    }

    @Override
    public @Nullable O result() {
        var ends = engine.store().ends(List.of(id));
        if (ends.isEmpty()) {
            throw new InvalidState(
                    "Run %s has not ended, it is %s. Wait for it with await(timeout).".formatted(id, status()));
        }
        return resultOf(ends.get(0));
    }

    @Override
    public @Nullable O await(Duration timeout) {
        Check.notNegative("timeout", timeout);
        try {
            return resultOf(engine.results().await(id, timeout));
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
            throw new CancellationException("Interrupted while waiting for run " + id + "; the run goes on.");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof TimeoutException) {
                throw new AwaitTimeoutException(
                        "Run %s has not ended within %s; it goes on, and can be waited for again."
                                .formatted(id, timeout));
            }
            throw failed.getCause() instanceof SteadworkException known ? known : new IllegalStateException(failed);
        }
    }

    @Override
    @SuppressWarnings("NullAway") // a run may have null as its output
    public CompletableFuture<O> future() {
        return engine.results().future(id, this::resultOf);
    }

    private @Nullable O resultOf(RunEnd end) {
        var status = end.status();
        if (status == null) {
            throw unknown();
        }
        return switch (status) {
            case COMPLETED -> engine.payloads().decode(end.output(), outputType);
            case FAILED -> throw new RunFailedException(id, errorOf(end));
            case CANCELLED -> throw new RunCancelledException(id);
            default -> throw new AssertionError(end);
        };
    }

    private static RunError errorOf(RunEnd end) {
        var error = end.error();
        return error != null ? error : new RunError("unknown", null, null, null);
    }

    @Override
    public void signal(String name, @Nullable Object value) {
        Check.name("signal name", name);
        asked().signal(id, name, engine.payloads().encode("Signal %s to run %s".formatted(name, id), value));
    }

    @Override
    public void cancel() {
        asked().cancel(id);
    }

    @Override
    public void terminate(String reason) {
        asked().terminate(id, Check.name("reason", reason));
    }

    @Override
    public void pause() {
        asked().pause(id);
    }

    @Override
    public void resume() {
        asked().resume(id);
    }

    @Override
    public void retry() {
        asked().retry(id);
    }

    @Override
    public RunHandle<O> fork(String stepName) {
        return forked(stepName, null);
    }

    @Override
    public RunHandle<O> fork(String stepName, @Nullable Object input) {
        return forked(stepName, engine.payloads().encode("Input of the fork of run " + id, input));
    }

    private RunHandle<O> forked(String stepName, @Nullable Payload input) {
        var fork = asked().fork(id, Check.notNull("step name", stepName), input);
        return new StoredRun<>(engine, fork, outputType, false);
    }

    @Override
    public void delete(String reason) {
        asked().delete(id, Check.name("reason", reason));
    }

    private <T> T found(@Nullable T value) {
        if (value == null) {
            throw unknown();
        }
        return value;
    }

    private NotFound unknown() {
        return new NotFound("There is no run %s. It was never accepted, or was deleted for good.".formatted(id));
    }

    @Override
    public String toString() {
        return "run " + id;
    }
}
