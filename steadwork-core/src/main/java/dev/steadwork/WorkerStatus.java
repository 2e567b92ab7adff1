package dev.steadwork;

/** Whether a worker takes runs. */
public enum WorkerStatus {
    /** Takes runs, and was heard of not long ago. */
    ONLINE,
    /** Finishes what it executes and takes nothing more: it is being closed, or was told so by {@link Workers#drain}. */
    DRAINING,
    /** Was closed, or has not been heard of for longer than {@link Steadwork.Builder#staleAfter}. */
    OFFLINE
}
