package dev.steadwork.simulation;

import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A thread that runs only while it has the turn, on a thread of the JVM that it borrows. */
public final class SimulatedThread extends Thread {
    private final Scheduler scheduler;
    private final Runnable task;
    private final Semaphore turn = new Semaphore(0);
    private final Semaphore end = new Semaphore(0);
    private SimulatedProcess process;
    private BooleanSupplier condition = () -> true;
    private long until = Long.MAX_VALUE;
    private boolean interruptible;
    private boolean interrupted;
    private boolean mayGoOn;
    private Carrier carrier;
    private boolean begun;
    private boolean ended;
    private int endings;

    SimulatedThread(Scheduler scheduler, SimulatedProcess process, String name, Runnable task) {
        super(name);
        this.task = task;
        this.scheduler = scheduler;
        this.process = process;
        setDaemon(true);
    }

    /** A thread of the process of the thread that makes it. */
    public SimulatedThread(Runnable task, String name) {
        this(current().scheduler, current().process, name, task);
    }

    /** A thread of another process. */
    public static SimulatedThread in(SimulatedProcess process, String name, Runnable task) {
        return new SimulatedThread(current().scheduler, process, name, task);
    }

    public static boolean isCurrent() {
        return Thread.currentThread() instanceof Carrier;
    }

    public static SimulatedThread current() {
        return ((Carrier) Thread.currentThread()).carried();
    }

    static Scheduler scheduler() {
        return current().scheduler;
    }

    public SimulatedProcess process() {
        return process;
    }

    void begin() {
        scheduler.add(this);
        begun = true;
        carrier = Carrier.of(this);
    }

    @Override
    public void start() {
        begin();
    }

    void runCarried() {
        awaitTurn();
        try {
            if (!scheduler.isEnding()) {
                task.run();
            }
        } catch (Scheduler.Ended over) {
            // as meant
        } catch (Throwable unexpected) {
            scheduler.failed(unexpected);
        } finally {
            ended = true;
            scheduler.ended(this);
        }
    }

    /** The thread that carried it is free for others. */
    void hasLeft() {
        end.release();
    }

    void giveTurn() {
        turn.release();
    }

    void awaitTurn() {
        turn.acquireUninterruptibly();
    }

    boolean awaitEnd(long seconds) throws InterruptedException {
        return end.tryAcquire(seconds, TimeUnit.SECONDS);
    }

    void waitsFor(BooleanSupplier wanted, long untilNanos, boolean canBeInterrupted) {
        condition = wanted;
        until = untilNanos;
        interruptible = canBeInterrupted;
    }

    boolean isReady(long nanos) {
        return process.thawsAt() <= nanos
                && (nanos >= until || (interruptible && interrupted) || condition.getAsBoolean());
    }

    /** When it is ready at the latest; asked only if no thread is ready. */
    long readyAt() {
        boolean onlyFrozen = (interruptible && interrupted) || condition.getAsBoolean();
        return Math.max(process.thawsAt(), onlyFrozen ? Long.MIN_VALUE : until);
    }

    boolean hasEnded() {
        return ended;
    }

    boolean hasBegun() {
        return begun;
    }

    @Override
    public void interrupt() {
        interrupted = true;
    }

    @Override
    public boolean isInterrupted() {
        return interrupted;
    }

    /** Whether this is not the first time: it ignored that its wait was interrupted. */
    boolean ignoresItsEnd() {
        return endings++ > 0;
    }

    boolean takeInterrupt() {
        boolean was = interrupted;
        interrupted = false;
        return was;
    }

    void unpark() {
        mayGoOn = true;
    }

    boolean mayGoOn() {
        return mayGoOn;
    }

    void parked() {
        mayGoOn = false;
    }

    String describeShort() {
        return process.name() + "/" + getName().replaceFirst("^steadwork-([a-z]+)-.*", "$1");
    }

    String describe() {
        return describeShort() + " at " + Arrays.asList(carrier.getStackTrace());
    }
}
