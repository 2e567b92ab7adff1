package dev.steadwork;

/** What was waited for did not happen in the time given. The run itself goes on. */
public final class AwaitTimeoutException extends SteadworkException {
    public AwaitTimeoutException(String message) {
        super(ErrorCode.AWAIT_TIMEOUT, message, null);
    }
}
