package dev.steadwork;

/** How long an idempotency key stands for its run. */
public enum KeyPolicy {
    /** The key is free again as soon as its run has ended. */
    WHILE_ACTIVE,
    /** The key stands for its run until the run is deleted. The default. */
    FOREVER
}
