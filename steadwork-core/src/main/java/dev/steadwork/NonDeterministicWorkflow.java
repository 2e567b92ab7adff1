package dev.steadwork;

/** A handler took another path than the recorded steps of its run: the code changed, or depends on something outside steps. */
public final class NonDeterministicWorkflow extends SteadworkException {
    public NonDeterministicWorkflow(String message) {
        super(ErrorCode.NON_DETERMINISTIC, message, null);
    }
}
