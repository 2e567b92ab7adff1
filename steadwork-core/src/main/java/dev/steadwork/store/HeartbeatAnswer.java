package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Instant;
import java.util.Map;

/**
 * What a worker learns from its heartbeat.
 *
 * @param now the database's time
 * @param entry what the registry has to say to the worker
 * @param held the runs whose leases were prolonged; one that is missing is lost
 */
public record HeartbeatAnswer(Instant now, Entry entry, Map<RunId, Requests> held) {
    /** What was asked of a run. */
    public record Requests(boolean cancel, boolean pause) {}

    /** What the registry has to say to a worker. */
    public enum Entry {
        /** Nothing: go on. */
        KEPT,
        /** It was asked to take no more runs. */
        DRAIN,
        /** It was forgotten, and has to register again. */
        MISSING;

        public static Entry of(boolean missing, boolean drain) {
            return missing ? MISSING : drain ? DRAIN : KEPT;
        }
    }
}
