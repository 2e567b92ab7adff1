package dev.steadwork;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What can happen to a run. */
public enum EventKind {
    /** It was accepted. */
    CREATED,
    /** A worker took it. */
    LEASED,
    /** A worker took it for the first time. */
    STARTED,
    /** A step's result was kept. */
    STEP_COMPLETED,
    /** A step used up its attempts. */
    STEP_FAILED,
    /** An attempt of a step or of the handler failed and is tried again, or an operator started the run again. */
    RETRIED,
    /** It left its worker to wait: for time, a signal or a child. */
    SLEPT,
    /** A signal was sent to it. */
    SIGNALLED,
    /** A pause was asked for while a worker had it. */
    PAUSE_REQUESTED,
    /** It was paused. */
    PAUSED,
    /** It goes on, or the request for a pause was withdrawn. */
    RESUMED,
    /** Its end was asked for; it first undoes what it did, or reaches its next step. */
    CANCEL_REQUESTED,
    /** It completed. */
    SUCCEEDED,
    /** It failed. */
    FAILED,
    /** It was cancelled or terminated. */
    CANCELLED,
    /** Another run was made from one of its steps. */
    FORKED,
    /** It was deleted. */
    DELETED,
    /** Its worker fell silent for longer than the lease. */
    LEASE_LOST,
    /** Its worker handed it back to go on elsewhere. */
    RELEASED;

    private static final Set<EventKind> MILESTONES = Set.of(CREATED, STARTED, SUCCEEDED, FAILED, CANCELLED);

    /** What goes out unless other kinds are chosen: created, started, succeeded, failed, cancelled. */
    public static Set<EventKind> milestones() {
        return EnumSet.copyOf(MILESTONES);
    }

    /** The name in lower case, such as {@code step_completed}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
