package dev.steadwork.simulation;

import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.helpers.NOPLogger;

/**
 * What calls of simulated classes arrive at instead of the JDK. Threads outside of simulations, which open the database,
 * get what they asked for.
 */
public final class Redirected {
    /** How often a thread that looks at the clock loses its turn, one in so many. */
    private static final int LOOKS_PER_PASS = 16;

    private Redirected() {}

    static void await(BooleanSupplier condition) {
        if (SimulatedThread.isCurrent() && !condition.getAsBoolean()) {
            SimulatedThread.scheduler().waitUntil(condition, Long.MAX_VALUE);
        }
    }

    static void awaitInterruptibly(BooleanSupplier condition) throws InterruptedException {
        if (SimulatedThread.isCurrent()) {
            SimulatedThread.scheduler().waitInterruptibly(condition, Long.MAX_VALUE);
        }
    }

    public static long nanoTime() {
        if (!SimulatedThread.isCurrent()) {
            return System.nanoTime();
        }
        var scheduler = SimulatedThread.scheduler();
        if (!scheduler.isUndisturbed() && scheduler.random().nextInt(LOOKS_PER_PASS) == 0) {
            scheduler.pass();
        }
        return scheduler.nanos();
    }

    public static long currentTimeMillis() {
        return SimulatedThread.isCurrent() ? SimulatedThread.scheduler().micros() / 1000 : System.currentTimeMillis();
    }

    public static Instant now() {
        return SimulatedThread.isCurrent()
                ? Instant.EPOCH.plusNanos(SimulatedThread.scheduler().micros() * 1000)
                : Instant.now();
    }

    public static void sleep(long millis) throws InterruptedException {
        SimulatedThread.scheduler().sleep(millis);
    }

    public static void sleep(TimeUnit unit, long time) throws InterruptedException {
        SimulatedThread.scheduler().sleep(unit.toMillis(time));
    }

    public static Thread currentThread() {
        return SimulatedThread.isCurrent() ? SimulatedThread.current() : Thread.currentThread();
    }

    public static boolean interrupted() {
        return SimulatedThread.isCurrent() ? SimulatedThread.current().takeInterrupt() : Thread.interrupted();
    }

    public static void join(Thread thread) throws InterruptedException {
        var simulated = (SimulatedThread) thread;
        awaitInterruptibly(simulated::hasEnded);
    }

    public static boolean isAlive(Thread thread) {
        return thread instanceof SimulatedThread simulated
                ? simulated.hasBegun() && !simulated.hasEnded()
                : thread.isAlive();
    }

    public static void park() {
        parkNanos(Long.MAX_VALUE / 2);
    }

    public static void parkNanos(long nanos) {
        var me = SimulatedThread.current();
        var scheduler = SimulatedThread.scheduler();
        scheduler.waitUntil(() -> me.mayGoOn() || me.isInterrupted(), scheduler.nanos() + nanos);
        me.parked();
    }

    public static void unpark(Thread thread) {
        if (thread instanceof SimulatedThread simulated) {
            simulated.unpark();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** A thread may give the turn away inside a monitor, so the JVM's own would stop others for good. */
    public static void enter(Object lock) {
        if (!SimulatedThread.isCurrent()) {
            return;
        }
        var me = SimulatedThread.current();
        var monitor = SimulatedThread.scheduler().monitor(lock);
        if (monitor.owner != me) {
            await(() -> monitor.owner == null);
            monitor.owner = me;
        }
        monitor.entries++;
    }

    public static void exit(Object lock) {
        if (!SimulatedThread.isCurrent()) {
            return;
        }
        var monitor = SimulatedThread.scheduler().monitor(lock);
        if (monitor.owner == SimulatedThread.current() && --monitor.entries == 0) {
            monitor.owner = null;
        }
    }

    /** The order of the JDK's immutable sets differs from one JVM to the next. */
    public static <E> Set<E> copyOf(Collection<? extends E> elements) {
        return Collections.unmodifiableSet(new LinkedHashSet<>(elements));
    }

    public static <K, V> Map<K, V> copyOf(Map<? extends K, ? extends V> entries) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(entries));
    }

    public static void addShutdownHook(Runtime runtime, Thread hook) {}

    public static boolean removeShutdownHook(Runtime runtime, Thread hook) {
        return true;
    }

    public static Logger getLogger(Class<?> type) {
        return NOPLogger.NOP_LOGGER;
    }

    public static ExecutorService perTask() {
        return new ThreadPerTask();
    }

    private static final class ThreadPerTask extends AbstractExecutorService {
        private int started;

        @Override
        public void execute(Runnable task) {
            new SimulatedThread(task, "steadwork-run-" + ++started).begin();
        }

        @Override
        protected <T> RunnableFuture<T> newTaskFor(Callable<T> code) {
            return new Task<>(code);
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    private static final class Task<T> extends FutureTask<T> {
        Task(Callable<T> code) {
            super(code);
        }

        @Override
        public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
            var scheduler = SimulatedThread.scheduler();
            scheduler.waitInterruptibly(this::isDone, scheduler.nanos() + unit.toNanos(timeout));
            return super.get(0, unit);
        }
    }
}
