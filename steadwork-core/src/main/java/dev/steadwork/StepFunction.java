package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** The code of one of many equal steps, each for an item of its own. */
@FunctionalInterface
public interface StepFunction<A, T> {
    @Nullable
    T run(A item) throws Exception;
}
