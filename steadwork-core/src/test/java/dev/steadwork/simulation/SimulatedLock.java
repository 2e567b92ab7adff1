package dev.steadwork.simulation;

import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A lock whose waits, and those of its conditions, give the turn away. */
public final class SimulatedLock extends ReentrantLock {
    private static final long serialVersionUID = 1;

    public SimulatedLock() {}

    public SimulatedLock(boolean fair) {
        super(fair);
    }

    @Override
    public void lock() {
        if (isLocked() && !isHeldByCurrentThread()) {
            Redirected.await(() -> !isLocked());
        }
        super.lock();
    }

    @Override
    public Condition newCondition() {
        return new SimulatedCondition(super.newCondition());
    }

    /** For threads outside of simulations it is the lock's own condition. */
    private final class SimulatedCondition implements Condition {
        private final Condition real;
        private long signals;

        SimulatedCondition(Condition real) {
            this.real = real;
        }

        private boolean awaitUntil(long untilNanos) throws InterruptedException {
            long before = signals;
            unlock();
            try {
                SimulatedThread.scheduler().waitInterruptibly(() -> signals != before, untilNanos);
                return signals != before;
            } finally {
                lock();
            }
        }

        @Override
        public void await() throws InterruptedException {
            if (SimulatedThread.isCurrent()) {
                awaitUntil(Long.MAX_VALUE);
            } else {
                real.await();
            }
        }

        @Override
        public long awaitNanos(long nanos) throws InterruptedException {
            if (!SimulatedThread.isCurrent()) {
                return real.awaitNanos(nanos);
            }
            long until = SimulatedThread.scheduler().nanos() + Math.max(0, nanos);
            awaitUntil(until);
            return until - SimulatedThread.scheduler().nanos();
        }

        @Override
        public boolean await(long time, TimeUnit unit) throws InterruptedException {
            return awaitNanos(unit.toNanos(time)) > 0;
        }

        @Override
        public void awaitUninterruptibly() {
            throw new UnsupportedOperationException("The engine does not wait like this.");
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            throw new UnsupportedOperationException("The engine does not wait like this.");
        }

        @Override
        public void signal() {
            signals++;
            real.signal();
        }

        @Override
        public void signalAll() {
            signals++;
            real.signalAll();
        }
    }
}
