package dev.steadwork;

/** A condition outside the run is not met: no worker is online for its type, or the schema has another version. */
public final class PreconditionFailed extends SteadworkException {
    public PreconditionFailed(String message) {
        super(ErrorCode.PRECONDITION_FAILED, message, null);
    }
}
