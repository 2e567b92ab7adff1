package dev.steadwork.simulation;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A semaphore whose waits give the turn away. */
public final class SimulatedSemaphore extends Semaphore {
    public SimulatedSemaphore(int permits) {
        super(permits);
    }

    public SimulatedSemaphore(int permits, boolean fair) {
        super(permits, fair);
    }

    @Override
    public void acquire() throws InterruptedException {
        Redirected.awaitInterruptibly(() -> availablePermits() > 0);
        super.acquire();
    }

    @Override
    public boolean tryAcquire(long timeout, TimeUnit unit) throws InterruptedException {
        if (SimulatedThread.isCurrent()) {
            var scheduler = SimulatedThread.scheduler();
            scheduler.waitInterruptibly(
                    () -> availablePermits() > 0, scheduler.nanos() + Math.max(0, unit.toNanos(timeout)));
            return tryAcquire();
        }
        return super.tryAcquire(timeout, unit);
    }
}
