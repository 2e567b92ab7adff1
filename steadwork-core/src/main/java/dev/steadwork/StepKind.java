package dev.steadwork;

/** What a durable call was. */
public enum StepKind {
    /** User code whose result is kept. */
    FUNCTION,
    /** A durable timer. */
    SLEEP,
    /** Which of several promises came first. */
    ANY,
    /** Which version of a change the run follows. */
    VERSION
}
