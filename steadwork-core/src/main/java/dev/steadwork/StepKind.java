package dev.steadwork;

/** What a durable call was. */
public enum StepKind {
    /** User code whose result is kept. */
    FUNCTION,
    /** A durable timer. */
    SLEEP,
    /** A signal that was waited for. */
    EVENT,
    /** A child workflow. */
    CHILD,
    /** SQL of the application that committed together with its result. */
    TRANSACTION,
    /** An undo step of a saga. */
    UNDO,
    /** Which of several promises came first. */
    ANY,
    /** Which version of a change the run follows. */
    VERSION
}
