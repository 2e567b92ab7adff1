package dev.steadwork;

import org.jspecify.annotations.Nullable;

/** The database did not answer in time. The call may or may not have taken effect. */
public final class Timeout extends SteadworkException {
    public Timeout(String message, @Nullable Throwable cause) {
        super(ErrorCode.TIMEOUT, message, cause);
    }
}
