package dev.steadwork;

import java.time.Duration;

/**
 * Hears what happens in this process, for metrics and the like; see {@link Steadwork#observe}. Every method does nothing unless it
 * is overridden. They are called in the middle of the work by many threads at once: be quick, and block on nothing. What an
 * observer throws is logged and harms no run.
 */
public interface Observer {
    /** A run ended on a worker of this process, and that is durable. */
    default void runEnded(String type, RunStatus status) {}

    /** An attempt of a run's step, or of its handler, failed and is tried again. */
    default void retried(String type) {}

    /** A run was executed here while another worker took it over; nothing more was recorded. */
    default void leaseLost(String type) {}

    /** An attempt of a step was executed, however it went. */
    default void stepExecuted(String type, Duration took) {}

    /** A worker asked for runs and got so many, possibly none. */
    default void claimed(int runs, Duration took) {}

    /** So many writes were committed in one transaction. */
    default void committed(int writes, Duration took) {}

    /** A run went on so long after its sleep was over. */
    default void woken(String type, Duration late) {}
}
