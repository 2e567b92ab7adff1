package dev.steadwork;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How one step is treated. Immutable; every option returns a changed copy.
 *
 * @param retry how failures are tried again
 * @param timeout how long one attempt may take; null means no limit
 * @param input a value to keep with the step for people to look at; null means none
 */
public record StepOptions(
        RetryPolicy retry,
        @Nullable Duration timeout,
        @Nullable Object input) {
    private static final StepOptions DEFAULTS = new StepOptions(RetryPolicy.defaults(), null, null);

    public StepOptions {
        Check.notNull("retry", retry);
        if (timeout != null) {
            Check.positive("step timeout", timeout);
        }
    }

    /** Five attempts, no timeout, no recorded input. */
    public static StepOptions defaults() {
        return DEFAULTS;
    }

    public StepOptions retry(RetryPolicy policy) {
        return new StepOptions(policy, timeout, input);
    }

    /** An attempt that takes longer is interrupted and counts as failed. */
    public StepOptions timeout(Duration limit) {
        return new StepOptions(retry, limit, input);
    }

    public StepOptions input(@Nullable Object value) {
        return new StepOptions(retry, timeout, value);
    }
}
