package dev.steadwork.store;

import java.time.Instant;
import java.util.List;

/**
 * The runs a worker got, best first.
 *
 * @param now the database's time of the claim
 */
public record Claimed(Instant now, List<ClaimedRun> runs) {}
