package dev.steadwork;

import org.jspecify.annotations.Nullable;

/**
 * The result of a durable call that goes on beside the handler. Belongs to the handler that made it; every promise must be
 * awaited, by {@link #get()} or by {@link WorkflowContext#all} or {@link WorkflowContext#any}.
 *
 * @param <T> the result
 */
public interface Promise<T> {
    /**
     * Waits for the result and returns it.
     *
     * @throws StepFailedException if the step used up its attempts
     */
    @Nullable
    T get();
}
