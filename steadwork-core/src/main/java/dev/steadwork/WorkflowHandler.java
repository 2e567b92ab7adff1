package dev.steadwork;

import org.jspecify.annotations.Nullable;

/**
 * The code of a workflow. It is entered again from the top after every sleep, retry or crash, and finished steps then
 * return their stored results at once, so: whatever has an effect or is not repeatable belongs into a step.
 *
 * <pre>{@code
 * // bad: charged again on every replay, and the key differs each time
 * var payment = payments.charge(order, UUID.randomUUID());
 *
 * // good: charged once; the key is the same for every attempt
 * var payment = ctx.step("charge", Payment.class, step -> payments.charge(order, step.idempotencyKey()));
 * }</pre>
 */
@FunctionalInterface
public interface WorkflowHandler<I, O> {
    /** Executes the run; the value returned is its output. An exception fails it or, outside steps, is tried again. */
    @Nullable
    O run(WorkflowContext ctx, I input) throws Exception;
}
