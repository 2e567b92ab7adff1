package dev.steadwork;

/** The run that was waited for ended as FAILED. */
public final class RunFailedException extends SteadworkException {
    private final RunId runId;
    private final transient RunError error;

    public RunFailedException(RunId runId, RunError error) {
        super(ErrorCode.RUN_FAILED, "Run %s failed: %s".formatted(runId, error.line()), null);
        this.runId = runId;
        this.error = error;
    }

    /** The run that failed. */
    public RunId runId() {
        return runId;
    }

    /** The error as it is stored with the run. */
    public RunError error() {
        return error;
    }
}
