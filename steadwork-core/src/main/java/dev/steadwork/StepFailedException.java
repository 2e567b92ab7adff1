package dev.steadwork;

/**
 * Thrown into a handler by a step that used up its attempts. The failure is recorded: a replay throws it again without
 * executing the step. Catch it to take another path; uncaught, it fails the run.
 */
public final class StepFailedException extends SteadworkException {
    private final String step;
    private final transient RunError error;

    public StepFailedException(String step, RunError error) {
        super(ErrorCode.STEP_FAILED, "Step %s failed: %s".formatted(step, error.line()), null);
        this.step = step;
        this.error = error;
    }

    /** The name of the step, numbered if it was repeated ({@code charge#2}). */
    public String step() {
        return step;
    }

    /** The error of the last attempt as it is stored. */
    public RunError error() {
        return error;
    }
}
