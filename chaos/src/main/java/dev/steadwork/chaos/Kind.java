package dev.steadwork.chaos;

/** What a process saw or did. */
enum Kind {
    /** A client is about to trigger; the value is what it asks. */
    ASKED,
    /** A trigger returned this run; the step is the key, the value says whether the run existed. */
    ACCEPTED,
    /** A trigger failed: whether there is a run, nobody told. */
    UNKNOWN,
    /** A client is about to send a signal with this value. */
    SENDING,
    /** A signal was sent. */
    SENT,
    /** A client saw the result of the run. */
    SEEN,

    /** A worker, or a client, has begun. */
    STARTED,
    /** A worker claimed the run and entered its handler. */
    ENTERED,
    /** The body of a step was executed and returns this value. */
    EXECUTED,
    /** An attempt of a step failed on purpose. */
    ATTEMPTED,
    /** The handler got past the step with this value: it was acknowledged, now or before. */
    KEPT,
    /** The handler asks to sleep, or to wait for a signal, for so many milliseconds. */
    ASLEEP,
    /** The handler got past its sleep. */
    WOKEN,
    /** No signal came in time. */
    TIMED_OUT,
    /** The handler returned this value. */
    RETURNED,
    /** The handler was left, however. */
    LEFT,

    /** The runner did this to that. */
    FAULT,
    /** The fault is over. */
    HEALED,
    /** This process was killed. */
    KILLED,
    /** Postgres takes connections again. */
    ACCEPTING
}
