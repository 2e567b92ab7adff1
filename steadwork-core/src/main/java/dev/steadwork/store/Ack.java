package dev.steadwork.store;

/**
 * The answer to a worker's write.
 *
 * @param outcome what became of it
 * @param cancelRequested whether cancellation of the run was asked for
 * @param pauseRequested whether a pause of the run was asked for
 */
public record Ack(Outcome outcome, boolean cancelRequested, boolean pauseRequested) implements WriteResult {
    public static final Ack STORED = new Ack(Outcome.STORED, false, false);
    public static final Ack LEASE_LOST = new Ack(Outcome.LEASE_LOST, false, false);
    public static final Ack NOT_FOUND = new Ack(Outcome.NOT_FOUND, false, false);
    public static final Ack REFUSED = new Ack(Outcome.CANCEL_REQUESTED, true, false);

    /** What became of a write. */
    public enum Outcome {
        /** Durable now, or was so already under the same epoch. */
        STORED,
        /** Another epoch is current: nothing was changed. */
        LEASE_LOST,
        /** There is no such run. */
        NOT_FOUND,
        /** Cancellation comes first: nothing was changed. */
        CANCEL_REQUESTED
    }
}
