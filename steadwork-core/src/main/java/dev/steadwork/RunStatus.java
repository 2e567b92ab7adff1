package dev.steadwork;

/** Where a run stands in its life. */
public enum RunStatus {
    /** Ready now, waits for a worker. */
    PENDING,
    /** A worker executes it. */
    RUNNING,
    /** Waits for a time, a retry, an event or a child; holds no worker. */
    SLEEPING,
    /** Stopped by an operator until it is resumed. */
    PAUSED,
    /** Ended with an output. */
    COMPLETED,
    /** Ended with an error. */
    FAILED,
    /** Ended because someone asked for it. */
    CANCELLED;

    /** Whether the run has ended. */
    public boolean isTerminal() {
        return this == COMPLETED || this == FAILED || this == CANCELLED;
    }
}
