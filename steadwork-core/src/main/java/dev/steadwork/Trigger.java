package dev.steadwork;

import org.jspecify.annotations.Nullable;

/**
 * One item of a batch trigger, with options of its own: {@code Trigger.of(order).idempotencyKey("order-1")}.
 *
 * @param <I> the input
 */
public final class Trigger<I> extends TriggerOptions<Trigger<I>> {
    private final @Nullable I input;

    private Trigger(@Nullable I input) {
        this.input = input;
    }

    /** A run with this input. */
    public static <I> Trigger<I> of(@Nullable I input) {
        return new Trigger<>(input);
    }

    public @Nullable I input() {
        return input;
    }
}
