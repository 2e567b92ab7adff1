package dev.steadwork.chaos;

import java.time.Duration;

/**
 * Something that goes wrong.
 *
 * @param pause how long after the one before
 * @param lane which worker, client or network, from 1
 * @param lasts how long
 */
record Fault(Duration pause, FaultKind kind, int lane, Duration lasts) {}
