package dev.steadwork.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;

/** A thread of the JVM that simulated threads run on, one after the other: starting one for each would take most of the time. */
final class Carrier extends Thread {
    private static final Deque<Carrier> idle = new ArrayDeque<>();

    private final Semaphore work = new Semaphore(0);
    private SimulatedThread carried;

    private Carrier() {
        super("simulation");
        setDaemon(true);
    }

    static Carrier of(SimulatedThread thread) {
        Carrier carrier;
        synchronized (idle) {
            carrier = idle.poll();
        }
        if (carrier == null) {
            carrier = new Carrier();
            carrier.start();
        }
        carrier.carried = thread;
        carrier.work.release();
        return carrier;
    }

    SimulatedThread carried() {
        return carried;
    }

    @Override
    public void run() {
        while (true) {
            work.acquireUninterruptibly();
            var thread = carried;
            thread.runCarried();
            carried = null;
            synchronized (idle) {
                idle.push(this);
            }
            thread.hasLeft();
        }
    }
}
