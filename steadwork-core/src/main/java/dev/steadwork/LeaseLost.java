package dev.steadwork;

/** Another worker owns the run now: this worker's write changed nothing, and its handler is interrupted. */
public final class LeaseLost extends SteadworkException {
    public LeaseLost(String message) {
        super(ErrorCode.LEASE_LOST, message, null);
    }
}
