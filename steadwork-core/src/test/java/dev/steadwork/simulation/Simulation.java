package dev.steadwork.simulation;

import java.lang.reflect.InvocationTargetException;
import java.util.List;

/** Simulates one seed after the other. */
public interface Simulation {
    Verdict run(long seed, boolean traced);

    /**
     * What came of a seed.
     *
     * @param violations rules that did not hold; empty if all did
     * @param trace what happened, if that was asked for
     * @param digest the same for the same order of events
     * @param faults how many were injected
     * @param begun how many runs began with their creation
     * @param opened how many runs began before their claim was kept
     */
    record Verdict(
            long seed,
            List<String> violations,
            List<String> trace,
            long digest,
            long turns,
            int faults,
            int begun,
            int opened) {}

    /**
     * One with classes and a database of its own.
     *
     * @param mutant the name of the mutant that it simulates, or {@code NONE}
     */
    static Simulation of(String mutant) {
        try {
            var world = new SimulatingLoader().loadClass("dev.steadwork.simulation.world.World");
            return (Simulation) world.getConstructor(String.class).newInstance(mutant);
        } catch (InvocationTargetException failed) {
            throw new IllegalStateException(failed.getCause());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
