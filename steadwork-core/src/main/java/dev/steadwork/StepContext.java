package dev.steadwork;

/** What a step knows about itself while it executes. */
public interface StepContext {
    /** The run and the step's name: the same for every attempt, so external systems can tell a repetition. */
    String idempotencyKey();

    /** The number of this attempt, from 1. */
    int attempt();

    /** Raised by every claim of the run; an external system that keeps the highest one it saw can refuse a zombie. */
    long fencingToken();

    /** Whether cancellation of the run was asked for; a long step may look and end early. */
    boolean cancelRequested();
}
