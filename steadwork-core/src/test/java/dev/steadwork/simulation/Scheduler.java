package dev.steadwork.simulation;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Lets the threads of a simulation run one at a time, in an order that its seed decides, and keeps their clock: it stands
 * still while a thread runs and moves on when all of them wait. A thread gives the turn away wherever it waits, and
 * wherever {@link #pass} is called.
 */
public final class Scheduler {
    private static final long START_MICROS = 1_750_000_000_000_000L;
    private static final long REAL_PATIENCE_SECONDS = 120;
    private static final int MOST_TURNS = 1_000_000;

    private final Random random;
    private final boolean traced;
    private final List<SimulatedThread> threads = new ArrayList<>();
    private final List<SimulatedThread> ready = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();
    private long nanos;
    private long turns;
    private long digest;
    private final Map<Object, Monitor> monitors = new IdentityHashMap<>();
    private SimulatedThread driver;
    private boolean ending;
    private boolean undisturbed;
    private Throwable failure;

    public Scheduler(long seed, boolean traced) {
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
        this.traced = traced;
    }

    /** Runs the code and all threads that it starts, until it returns; then ends what is left of them. */
    public void run(Runnable code) throws InterruptedException, TimeoutException {
        this.driver = new SimulatedThread(this, new SimulatedProcess("driver"), "driver", code);
        driver.begin();
        driver.giveTurn();
        if (!driver.awaitEnd(REAL_PATIENCE_SECONDS)) {
            throw new TimeoutException("The simulation hangs: a thread waits for something that is not simulated.\n"
                    + threads.stream().map(SimulatedThread::describe).toList());
        }
        ending = true;
        while (!threads.isEmpty()) {
            var left = threads.get(0);
            left.giveTurn();
            if (!left.awaitEnd(REAL_PATIENCE_SECONDS)) {
                throw new TimeoutException("A thread does not end with its simulation: " + left.describe());
            }
        }
        if (failure != null) {
            throw new IllegalStateException("A thread of the simulation failed: " + failure, failure);
        }
    }

    /** The turn may go to another thread, and come back at any time. */
    public void pass() {
        waitUntil(() -> true, Long.MAX_VALUE);
    }

    /** Waits for the condition, or until a time; an interrupt makes no difference. */
    public void waitUntil(BooleanSupplier condition, long untilNanos) {
        var me = SimulatedThread.current();
        me.waitsFor(condition, untilNanos, false);
        giveTurnAway(me);
        if (ending || isLost(me)) {
            throw new Ended();
        }
    }

    /** The driver ends the simulation when something went wrong that the threads themselves cannot know of. */
    private boolean isLost(SimulatedThread me) {
        return me == driver && failure != null;
    }

    /** The same, but an interrupt ends the wait. */
    public void waitInterruptibly(BooleanSupplier condition, long untilNanos) throws InterruptedException {
        var me = SimulatedThread.current();
        me.waitsFor(condition, untilNanos, true);
        giveTurnAway(me);
        if ((ending || isLost(me)) && me.ignoresItsEnd()) {
            throw new Ended();
        }
        if (ending || isLost(me) || me.takeInterrupt()) {
            throw new InterruptedException();
        }
    }

    public void sleep(long millis) throws InterruptedException {
        waitInterruptibly(() -> false, nanos + TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void giveTurnAway(SimulatedThread me) {
        if (ending) {
            return;
        }
        var next = next();
        if (next != me) {
            next.giveTurn();
            me.awaitTurn();
        }
    }

    /** A thread has ended by itself. */
    void ended(SimulatedThread thread) {
        threads.remove(thread);
        if (!ending && thread != driver) {
            next().giveTurn();
        }
    }

    void failed(Throwable unexpected) {
        if (failure == null && !ending) {
            failure = unexpected;
        }
    }

    void add(SimulatedThread thread) {
        if (ending) {
            throw new Ended();
        }
        threads.add(thread);
    }

    private SimulatedThread next() {
        if (++turns > MOST_TURNS) {
            return lost("The simulation does not come to an end.");
        }
        if (failure != null) {
            return driver;
        }
        collectReady();
        while (ready.isEmpty()) {
            if (!moveClock()) {
                return lost("All threads of the simulation wait for ever.");
            }
            collectReady();
        }
        var chosen = ready.size() == 1 ? ready.get(0) : ready.get(random.nextInt(ready.size()));
        digest = 31 * digest + threads.indexOf(chosen) + nanos;
        return chosen;
    }

    private void collectReady() {
        ready.clear();
        for (var thread : threads) {
            if (thread.isReady(nanos)) {
                ready.add(thread);
            }
        }
    }

    private boolean moveClock() {
        long earliest = Long.MAX_VALUE;
        for (var thread : threads) {
            earliest = Math.min(earliest, thread.readyAt());
        }
        nanos = earliest == Long.MAX_VALUE ? nanos : Math.max(nanos, earliest);
        return earliest != Long.MAX_VALUE;
    }

    private SimulatedThread lost(String why) {
        failure = new IllegalStateException(why);
        return driver;
    }

    /** What a thread holds that entered a synchronized method. */
    static final class Monitor {
        SimulatedThread owner;
        int entries;
    }

    Monitor monitor(Object lock) {
        return monitors.computeIfAbsent(lock, l -> new Monitor());
    }

    /** Calls code during which the turn is not given away: one call of the real database. */
    public <T> T undisturbed(Callable<T> code) throws Exception {
        boolean before = undisturbed;
        undisturbed = true;
        try {
            return code.call();
        } finally {
            undisturbed = before;
        }
    }

    boolean isUndisturbed() {
        return undisturbed;
    }

    boolean isEnding() {
        return ending;
    }

    public long nanos() {
        return nanos;
    }

    public long micros() {
        return START_MICROS + nanos / 1000;
    }

    /** Time passes while a thread has the turn. */
    public void advance(long byNanos) {
        nanos += byNanos;
    }

    public Random random() {
        return random;
    }

    public boolean isTraced() {
        return traced;
    }

    public void trace(String line) {
        trace.add("%9.3f  %-18s %s"
                .formatted(nanos / 1e9, SimulatedThread.current().describeShort(), line));
    }

    public List<String> trace() {
        return trace;
    }

    /** The same for the same order of turns at the same times. */
    public long digest() {
        return digest;
    }

    public long turns() {
        return turns;
    }

    /** Ends a thread whose simulation is over. */
    static final class Ended extends Error {
        Ended() {
            super("The simulation is over.", null, false, false);
        }
    }
}
