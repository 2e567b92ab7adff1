package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Instant;
import java.util.Map;

/**
 * What a worker learns from its heartbeat.
 *
 * @param now the database's time
 * @param held the runs whose leases were prolonged; one that is missing is lost
 */
public record HeartbeatAnswer(Instant now, Map<RunId, Requests> held) {
    /** What was asked of a run. */
    public record Requests(boolean cancel, boolean pause) {}
}
