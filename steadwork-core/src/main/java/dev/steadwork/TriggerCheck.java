package dev.steadwork;

/** What must be known about a workflow type before a run of it is accepted. */
public enum TriggerCheck {
    /** Some worker or {@link Steadwork#register} has recorded the type. The default: a misspelt name fails at once. */
    REQUIRE_REGISTERED,
    /** A worker that serves the type is online now. */
    REQUIRE_ONLINE,
    /** Accept the run whatever is known; it waits until a worker for it appears. */
    ACCEPT
}
