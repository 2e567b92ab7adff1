package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** The database cannot be reached now. Nothing is known to be wrong with the call itself: it may be made again. */
public final class Unavailable extends SteadworkException {
    public Unavailable(String message, @Nullable Throwable cause) {
        super(ErrorCode.UNAVAILABLE, message, cause);
    }
}
