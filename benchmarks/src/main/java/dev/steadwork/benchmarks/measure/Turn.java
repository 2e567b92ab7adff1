package dev.steadwork.benchmarks.measure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Who is measured beside others works only while it has the turn, from one call of {@link #next} to the following one. The
 * harness stops everybody else meanwhile, and begins a phase when all have ended the one before it.
 */
final class Turn {
    private static final boolean IN_TURNS = Boolean.getBoolean("turns");
    private static final BufferedReader GRANTS =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private Turn() {}

    /** In the order in which everybody goes through them. */
    enum Phase {
        COLD,
        SINGLE_WARM_UP,
        SINGLE,
        MANY_CALLERS,
        WARM_UP,
        MEASURE,
        REST
    }

    static void next(Phase phase) throws IOException {
        if (IN_TURNS) {
            System.out.println("TURN " + phase.ordinal());
            if (GRANTS.readLine() == null) {
                throw new IOException("the harness has gone");
            }
        }
    }
}
