package dev.steadwork;

/** The run is not in a status that allows what was asked. */
public final class InvalidState extends SteadworkException {
    public InvalidState(String message) {
        super(ErrorCode.INVALID_STATE, message, null);
    }
}
