package dev.steadwork.simulation;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A queue whose readers give the turn away while it is empty. */
public final class SimulatedQueue<E> extends LinkedBlockingQueue<E> {
    private static final long serialVersionUID = 1;

    @Override
    public E take() throws InterruptedException {
        Redirected.awaitInterruptibly(() -> !isEmpty());
        return super.take();
    }

    @Override
    public E poll(long timeout, TimeUnit unit) throws InterruptedException {
        if (SimulatedThread.isCurrent()) {
            var scheduler = SimulatedThread.scheduler();
            scheduler.waitInterruptibly(() -> !isEmpty(), scheduler.nanos() + Math.max(0, unit.toNanos(timeout)));
            return poll();
        }
        return super.poll(timeout, unit);
    }
}
