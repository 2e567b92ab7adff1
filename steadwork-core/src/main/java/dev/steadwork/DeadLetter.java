package dev.steadwork;

/**
 * What a dead-letter workflow gets: the run that failed.
 *
 * @param runId the failed run
 * @param workflow its type
 * @param input its input as it was stored
 * @param error why it failed
 */
public record DeadLetter(RunId runId, String workflow, Payload input, RunError error) {}
