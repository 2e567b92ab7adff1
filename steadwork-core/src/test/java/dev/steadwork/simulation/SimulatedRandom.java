package dev.steadwork.simulation;

import java.util.Random;

/** Stands for {@code ThreadLocalRandom}. */
public final class SimulatedRandom {
    private SimulatedRandom() {}

    public static Random current() {
        return SimulatedThread.isCurrent() ? SimulatedThread.scheduler().random() : new Random();
    }
}
