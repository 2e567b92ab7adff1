package dev.steadwork;

/** The run that was waited for ended as CANCELLED. */
public final class RunCancelledException extends SteadworkException {
    private final RunId runId;

    public RunCancelledException(RunId runId) {
        super(ErrorCode.RUN_CANCELLED, "Run %s was cancelled.".formatted(runId), null);
        this.runId = runId;
    }

    /** The run that was cancelled. */
    public RunId runId() {
        return runId;
    }
}
