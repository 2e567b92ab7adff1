package dev.steadwork;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a handler does durably. Every call here that takes a name is a durable call: it takes the next position in the
 * run, and its result is kept under its name. A name used again in one run is numbered ({@code charge}, {@code charge#2}).
 *
 * <p>Belongs to the thread of its handler, for as long as the handler runs.
 */
public interface WorkflowContext {
    /** The run that is executed. */
    RunId runId();

    /** The number of this attempt of the handler, from 1; sleeping does not count. */
    int attempt();

    /** Raised by every claim of the run; an external system that keeps the highest one it saw can refuse a zombie. */
    long fencingToken();

    /** The time of the last durable call by the database's clock; a replay sees the same values. */
    Instant now();

    /** A random UUID that a replay sees again. */
    UUID randomUuid();

    /** A source of random numbers that a replay sees again. */
    Random random();

    /**
     * Executes the body once and keeps its result: when it has returned, the result is durable, and a replay returns it
     * without executing the body. Failures are tried again by the policy; then {@link StepFailedException}.
     */
    default <T> T step(String name, Class<T> type, StepBody<T> body) {
        return step(name, TypeRef.of(type), StepOptions.defaults(), body);
    }

    /** A step with its own retry policy, timeout or recorded input. */
    default <T> T step(String name, Class<T> type, StepOptions options, StepBody<T> body) {
        return step(name, TypeRef.of(type), options, body);
    }

    /** A step whose result has type arguments. */
    default <T> T step(String name, TypeRef<T> type, StepBody<T> body) {
        return step(name, type, StepOptions.defaults(), body);
    }

    /** A step whose result has type arguments, with options. */
    <T> T step(String name, TypeRef<T> type, StepOptions options, StepBody<T> body);

    /** A step without a result. */
    default void run(String name, StepAction action) {
        run(name, StepOptions.defaults(), step -> action.run());
    }

    /** A step without a result that wants to know about itself. */
    default void run(String name, StepConsumer action) {
        run(name, StepOptions.defaults(), action);
    }

    /** A step without a result, with options. */
    default void run(String name, StepOptions options, StepConsumer action) {
        this.<@Nullable Void>step(name, TypeRef.of(Void.class), options, step -> {
            action.run(step);
            return null;
        });
    }

    /**
     * Starts a step beside the handler. Steps of one run started so execute at the same time; each is kept and tried again
     * like any other. Await every promise.
     */
    default <T> Promise<T> async(String name, Class<T> type, StepBody<T> body) {
        return async(name, TypeRef.of(type), StepOptions.defaults(), body);
    }

    /** A step beside the handler, with options. */
    default <T> Promise<T> async(String name, Class<T> type, StepOptions options, StepBody<T> body) {
        return async(name, TypeRef.of(type), options, body);
    }

    /** A step beside the handler whose result has type arguments, with options. */
    <T> Promise<T> async(String name, TypeRef<T> type, StepOptions options, StepBody<T> body);

    /**
     * Waits for all promises; the results have the order of the promises. If some failed, throws the failure of the first
     * of them, after all have ended: the others' results are kept.
     */
    <T> List<T> all(List<? extends Promise<? extends T>> promises);

    /** Waits for the first promise to succeed and returns its result; which one it was is kept. */
    <T> T any(List<? extends Promise<? extends T>> promises);

    /**
     * Executes one step per item, up to 16 at a time; the results have the order of the items. If some failed, throws the
     * failure of the first of them, after all have ended: the others' results are kept.
     */
    default <A, T> List<T> map(String name, Collection<A> items, Class<T> type, StepFunction<A, T> body) {
        return map(name, items, TypeRef.of(type), StepOptions.defaults(), body);
    }

    /** One step per item whose results have type arguments, with options. */
    <A, T> List<T> map(String name, Collection<A> items, TypeRef<T> type, StepOptions options, StepFunction<A, T> body);

    /**
     * A step made of SQL: what it does on the connection and its result commit together, in one transaction of the database
     * that keeps the runs: exactly once, whatever crashes. Keep it short; do not commit, roll back or close.
     *
     * <pre>{@code
     * ctx.step("debit", ..., step -> { accounts.debit(...); return ...; });      // may be executed again after a crash
     * ctx.transaction("debit", Balance.class, sql -> debit(sql, order));          // exactly once
     * }</pre>
     *
     * @throws InvalidState if the worker is connected to a server and not to the database itself
     */
    default <T> T transaction(String name, Class<T> type, TransactionBody<T> body) {
        return transaction(name, TypeRef.of(type), StepOptions.defaults(), body);
    }

    /** A transactional step with type arguments, or with its own retry policy or recorded input; it takes no timeout. */
    <T> T transaction(String name, TypeRef<T> type, StepOptions options, TransactionBody<T> body);

    /**
     * Waits for a signal of this name, without holding a worker, and returns its payload. A signal sent before is taken at
     * once; several of one name are taken in the order they were sent. Human approval is this.
     *
     * @throws AwaitTimeoutException if none came in time; a replay sees the same
     */
    default <T> T awaitEvent(String name, Class<T> type, Duration timeout) {
        return awaitEvent(name, TypeRef.of(type), timeout);
    }

    /** Waits for a signal whose payload has type arguments. */
    <T> T awaitEvent(String name, TypeRef<T> type, Duration timeout);

    /**
     * Starts a run of another workflow as a child: once, however often this run is replayed. The promise waits for its end
     * without holding a worker; a child that failed or was cancelled throws {@link StepFailedException} with the child's error.
     * Children are cancelled when this run is cancelled or fails.
     */
    default <I, O> Promise<O> child(Workflow<I, O> workflow, I input) {
        return child(workflow, input, ChildOptions.defaults());
    }

    /** Starts a child in a queue, with a delay, abandoned or detached. */
    <I, O> Promise<O> child(Workflow<I, O> workflow, I input, ChildOptions options);

    /**
     * Registers an undo step. If the run fails, is cancelled or misses its deadline, the registered ones are executed in
     * reverse order, each durable and tried again like any step, before the run ends. Register before the step that may need
     * it: then nothing that happened goes without its undo, and make the undo harmless if that step never happened.
     *
     * <pre>{@code
     * ctx.compensateWith("release-seat", () -> seats.release(order));
     * ctx.run("reserve-seat", () -> seats.reserve(order));
     * }</pre>
     */
    default void compensateWith(String name, StepAction undo) {
        compensateWith(name, StepOptions.defaults(), step -> undo.run());
    }

    /** Registers an undo step with its own retry policy or timeout. */
    void compensateWith(String name, StepOptions options, StepConsumer undo);

    /**
     * Which version of a changed piece of code this run follows: the newest for runs that come here for the first time,
     * {@code min} for runs that passed here before the change existed, and the same at every replay.
     *
     * <pre>{@code
     * if (ctx.version("fraud-check", 0, 1) >= 1) {
     *     ctx.run("fraud-check", () -> fraud.check(order));
     * }
     * }</pre>
     */
    int version(String changeId, int min, int max);

    /**
     * Sleeps durably: the run holds no worker meanwhile, and a crash neither restarts nor skips the sleep.
     *
     * <pre>{@code
     * Thread.sleep(86_400_000);                            // bad: holds a worker, starts anew after a crash
     * ctx.sleep("cooling-off", Duration.ofHours(24));      // good
     * }</pre>
     */
    void sleep(String name, Duration duration);

    /** Sleeps durably until the database's clock shows this time; returns at once if it has passed. */
    void sleepUntil(String name, Instant time);

    /** Whether cancellation of this run was asked for. The next durable call then ends the handler. */
    boolean cancelRequested();
}
