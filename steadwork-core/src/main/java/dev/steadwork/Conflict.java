package dev.steadwork;

/** Something else already holds the key or name that was asked for. */
public final class Conflict extends SteadworkException {
    public Conflict(String message) {
        super(ErrorCode.CONFLICT, message, null);
    }
}
