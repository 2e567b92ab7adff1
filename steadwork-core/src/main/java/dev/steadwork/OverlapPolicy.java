package dev.steadwork;

/** What a schedule does with a slot whose time comes while the run that it fired last has not ended. */
public enum OverlapPolicy {
    /** Fires it all the same: runs of the schedule may execute side by side. The default. */
    ALLOW,
    /** Lets it pass; the firing is recorded as {@link ScheduleFiring.Outcome#SKIPPED}. */
    SKIP,
    /** Keeps one slot waiting and fires it when the run has ended; further slots are skipped meanwhile. */
    BUFFER_ONE,
    /** Cancels the run and fires the slot. Of several slots that are due at once only the newest is fired. */
    CANCEL_RUNNING
}
