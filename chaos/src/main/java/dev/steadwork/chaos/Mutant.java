package dev.steadwork.chaos;

/** A rule of the engine that is broken on purpose, to see that the checker finds it. */
enum Mutant {
    NONE,
    /** Every write goes under the epoch that is current, whoever sends it. */
    EPOCH,
    /** A step that is kept twice has the second result. */
    FIRST_WRITE,
    /** A sleep is kept in one transaction and its timer in another. */
    SLEEP
}
