package dev.steadwork;

/** The run, workflow or step that was named does not exist (or no longer does). */
public final class NotFound extends SteadworkException {
    public NotFound(String message) {
        super(ErrorCode.NOT_FOUND, message, null);
    }
}
