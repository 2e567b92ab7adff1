package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** A value could not be turned into bytes, or bytes not into the type asked for. */
public final class Serialization extends SteadworkException {
    public Serialization(String message, @Nullable Throwable cause) {
        super(ErrorCode.SERIALIZATION, message, cause);
    }
}
