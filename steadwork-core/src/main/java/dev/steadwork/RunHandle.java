package dev.steadwork;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One run, seen from outside. Holds no resources; safe to share between threads. Every call asks the database.
 *
 * @param <O> the output
 */
public interface RunHandle<O> {
    RunId id();

    /** Whether the trigger that returned this handle found a run with its idempotency key. */
    boolean alreadyExisted();

    RunStatus status();

    RunInfo info();

    /** The input as it was stored. */
    Payload input();

    /** The recorded steps in call order. */
    List<StepInfo> steps();

    /**
     * The output of a finished run.
     *
     * @throws InvalidState while the run has not ended
     * @throws RunFailedException if it failed
     * @throws RunCancelledException if it was cancelled
     */
    @Nullable
    O result();

    /**
     * Waits for the run to end and returns its output.
     *
     * @throws AwaitTimeoutException if it has not ended in time; the run goes on
     * @throws RunFailedException if it failed
     * @throws RunCancelledException if it was cancelled
     */
    @Nullable
    O await(Duration timeout);

    /** The output as soon as the run has ended. Cancelling the future does not cancel the run. */
    CompletableFuture<O> future();

    /**
     * Sends a signal to the run, which {@code ctx.awaitEvent(name, ...)} in its handler takes. One that comes before it is
     * waited for is kept; several of one name are taken in the order they were sent.
     *
     * @param value the payload, of the type that the handler expects; may be null
     * @throws InvalidState if the run has ended
     */
    void signal(String name, @Nullable Object value);

    /**
     * Asks the run to end. A waiting run ends at once; a running one hears of it at its next step or heartbeat. No effect
     * on a cancelled run.
     *
     * @throws InvalidState if it has completed or failed
     */
    void cancel();

    /** Ends the run at once as CANCELLED, whatever it is doing; what its worker writes afterwards is refused. */
    void terminate(String reason);

    /** Stops the run until it is resumed; a running one stops at its next durable call. */
    void pause();

    /** Lets a paused run go on. */
    void resume();

    /** Starts a failed or cancelled run again from its last checkpoint; failed steps are executed again. */
    void retry();

    /** Hides the run from lists and workers and frees its key. A running one may still finish. */
    void delete(String reason);
}
