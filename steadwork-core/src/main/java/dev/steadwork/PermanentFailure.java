package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** Thrown by a step or handler to say: trying again is pointless, fail now. */
public class PermanentFailure extends RuntimeException {
    public PermanentFailure(String message) {
        this(message, null);
    }

    public PermanentFailure(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
