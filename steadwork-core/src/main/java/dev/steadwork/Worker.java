package dev.steadwork;

/** Executes runs in this process until it is closed. Safe to use from any thread. */
public interface Worker extends AutoCloseable {
    /** The id under which the worker is registered. */
    String id();

    /** How many runs it executes now. */
    int active();

    /** Blocks until the worker has ended. An interrupt is kept and ends the wait with an unchecked exception. */
    void join();

    /**
     * Drains: claims nothing more, lets running steps end (at most the drain timeout), hands unfinished runs back so that
     * other workers continue at once. Idempotent.
     */
    @Override
    void close();
}
