package dev.steadwork.simulation.world;

import dev.steadwork.Unavailable;
import dev.steadwork.simulation.Scheduler;
import dev.steadwork.simulation.SimulatedThread;
import java.time.Duration;
import java.util.Random;

/** Decides what goes wrong, and when. There are only so many faults, so that every simulation comes to an end. */
final class Faults {
    private static final int MOST = 8;

    private final Scheduler scheduler;
    private final Random random;
    private final Duration lease;
    private final int callsPerFault;
    private int left;
    private int injected;

    Faults(Scheduler scheduler, Duration lease) {
        this.scheduler = scheduler;
        this.random = scheduler.random();
        this.lease = lease;
        this.left = random.nextInt(MOST + 1);
        this.callsPerFault = 4 + random.nextInt(28);
    }

    int injected() {
        return injected;
    }

    private boolean strikes(String call) {
        boolean isOfStart = call.startsWith("register") || call.startsWith("limits");
        if (left == 0 || random.nextInt(isOfStart ? 10 * callsPerFault : callsPerFault) != 0) {
            return false;
        }
        left--;
        injected++;
        return true;
    }

    /** A call is on its way to the database. */
    void before(String call, boolean mayCrash) {
        scheduler.advance(1000L * random.nextInt(1000));
        if (strikes(call)) {
            happens(call, mayCrash, "request lost");
        }
        scheduler.pass();
    }

    /** The answer is on its way back; what was done is durable. */
    void after(String call, boolean mayCrash) {
        scheduler.advance(1000L * random.nextInt(1000));
        if (strikes(call)) {
            happens(call, mayCrash, "answer lost");
        }
        scheduler.pass();
    }

    /** Whether this call arrives twice. */
    boolean duplicates(String call) {
        return strikes(call);
    }

    /** Anything up to three leases. */
    long aWhile() {
        return 1000L * random.nextInt((int) (3 * lease.toNanos() / 1000));
    }

    private void happens(String call, boolean mayCrash, String loss) {
        var process = SimulatedThread.current().process();
        switch (random.nextInt(mayCrash ? 4 : 2)) {
            case 0 -> {
                trace("%s: %s".formatted(loss, call));
                throw new Unavailable(loss, null);
            }
            case 1 -> {
                long delay = aWhile();
                trace("delayed by %s: %s".formatted(Duration.ofNanos(delay), call));
                scheduler.waitUntil(() -> false, scheduler.nanos() + delay);
            }
            case 2 -> {
                long pause = aWhile();
                trace("%s is frozen for %s at %s".formatted(process.name(), Duration.ofNanos(pause), call));
                process.freeze(scheduler.nanos() + pause);
            }
            default -> {
                trace("%s crashes at %s".formatted(process.name(), call));
                process.crash();
            }
        }
    }

    private void trace(String line) {
        if (scheduler.isTraced()) {
            scheduler.trace("FAULT " + line);
        }
    }
}
