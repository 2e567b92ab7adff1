package dev.steadwork;

import org.jspecify.annotations.Nullable;

/**
 * Anything that Steadwork refuses or fails to do. The message says what happened, to which run, and what to do about it;
 * {@link #code()} says it to a program.
 */
public abstract sealed class SteadworkException extends RuntimeException
        permits NotFound,
                Conflict,
                InvalidArgument,
                InvalidState,
                LeaseLost,
                PreconditionFailed,
                Unauthorized,
                Unavailable,
                Timeout,
                Serialization,
                RunFailedException,
                RunCancelledException,
                AwaitTimeoutException,
                StepFailedException,
                NonDeterministicWorkflow {

    private final ErrorCode code;

    SteadworkException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** The kind of this error. */
    public final ErrorCode code() {
        return code;
    }
}
