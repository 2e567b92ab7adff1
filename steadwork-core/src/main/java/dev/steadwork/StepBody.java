package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** The code of a step with a result. */
@FunctionalInterface
public interface StepBody<T> {
    @Nullable
    T run(StepContext step) throws Exception;
}
