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

    /**
     * Why the run does not go on: what it waits for, in one word and one sentence. For people who wonder; it asks the
     * database several things one after the other, so what it says may be over by then.
     */
    Waiting waiting();

    /** The recorded steps in call order. */
    List<StepInfo> steps();

    /**
     * What happened to the run, in order, as far as it was recorded: from the moment on that {@link NamespaceSpec#audit} was
     * switched on, until it was switched off. A process learns of the switch within a heartbeat.
     */
    List<RunEvent> events();

    /**
     * The same run, with who asks and why: what is asked of it through the new handle carries both in its {@link #events()}.
     *
     * <pre>{@code
     * run.by("alice", "ticket 42").cancel();
     * }</pre>
     *
     * @param reason null if there is none to tell
     */
    RunHandle<O> by(String actor, @Nullable String reason);

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

    /**
     * Starts a failed or cancelled run again from its last checkpoint; the step that failed it is executed again. A failed
     * step stays failed if the handler caught it and finished others after it. A handler that did so and then failed with
     * that very step's error may find another path than the recorded one; {@link #fork(String)} it instead.
     *
     * @throws InvalidState if it is neither FAILED nor CANCELLED, or deleted
     * @throws Conflict if another run has its idempotency key now
     */
    void retry();

    /**
     * Starts a new run that goes on from a step of this one, with the same input. The new run copies this one's workflow,
     * queue, priority, retry policy, version, external id and tags, and the outcomes of all steps that were called before the
     * named one; the named one and all after it are executed. This run stays as it is, whatever its status, and what it does
     * later does not reach the new one.
     *
     * <p>The new run has no idempotency key and no parent, keeps the deadline only if that is still to come, and has the tag
     * {@code forked-from} with this run's id. Sleeps that were copied end when they would have ended here. It is a run of its
     * own for everything else: {@link StepContext#idempotencyKey()}, {@link WorkflowContext#now()} and the random values
     * differ, so a handler whose path depends on those may end as {@link NonDeterministicWorkflow}.
     *
     * @param stepName the step as {@link #steps()} shows it, such as {@code charge} or {@code charge#2}; something must be
     *     recorded of it, at least a failed attempt
     * @return the new run
     * @throws NotFound if there is no such run, or no such step in it; the message names those there are
     * @throws InvalidState if this run is deleted
     */
    RunHandle<O> fork(String stepName);

    /**
     * Like {@link #fork(String)}, with another input. Steps that are copied keep the results that the old input gave.
     *
     * @param input the new run's input; null is an input of null
     * @throws PayloadTooLarge if the input is over the limit
     */
    RunHandle<O> fork(String stepName, @Nullable Object input);

    /** Hides the run from lists and workers and frees its key. A running one may still finish. */
    void delete(String reason);
}
