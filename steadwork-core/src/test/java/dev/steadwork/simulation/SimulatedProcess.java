package dev.steadwork.simulation;

/** A process of the simulation: its threads stop together when it crashes, and stand still together while it is frozen. */
public final class SimulatedProcess {
    private final String name;
    private boolean crashed;
    private long frozenUntil = Long.MIN_VALUE;

    public SimulatedProcess(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    public void crash() {
        crashed = true;
    }

    public boolean hasCrashed() {
        return crashed;
    }

    public void freeze(long untilNanos) {
        frozenUntil = untilNanos;
    }

    /** When its threads may run again. */
    long thawsAt() {
        return crashed ? Long.MAX_VALUE : frozenUntil;
    }
}
