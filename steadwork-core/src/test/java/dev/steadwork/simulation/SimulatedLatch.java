package dev.steadwork.simulation;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A latch whose waits give the turn away. */
public final class SimulatedLatch extends CountDownLatch {
    public SimulatedLatch(int count) {
        super(count);
    }

    @Override
    public void await() throws InterruptedException {
        Redirected.awaitInterruptibly(() -> getCount() == 0);
        super.await();
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
        if (SimulatedThread.isCurrent()) {
            var scheduler = SimulatedThread.scheduler();
            scheduler.waitInterruptibly(() -> getCount() == 0, scheduler.nanos() + Math.max(0, unit.toNanos(timeout)));
            return getCount() == 0;
        }
        return super.await(timeout, unit);
    }
}
