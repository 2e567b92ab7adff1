package dev.steadwork;

/** How far a step is. */
public enum StepStatus {
    /** Waits for a signal or a child; an undo step: registered. */
    WAITING,
    /** Attempts failed, another one is to come. */
    RETRYING,
    /** Executing for longer than a heartbeat. */
    RUNNING,
    /** Done; its output is kept and never computed again. */
    COMPLETED,
    /** Its attempts are used up. */
    FAILED;

    /** Whether the step has ended. */
    public boolean isFinal() {
        return this == COMPLETED || this == FAILED;
    }
}
