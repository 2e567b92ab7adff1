package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended.
 *
 * @param status COMPLETED, FAILED or CANCELLED; null if there is no such run
 */
public record RunEnd(
        RunId run,
        @Nullable RunStatus status,
        Payload output,
        @Nullable RunError error) {}
