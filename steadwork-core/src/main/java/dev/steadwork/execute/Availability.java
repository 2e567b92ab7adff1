package dev.steadwork.execute;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets writers that wait out a lost database go on as soon as anyone sees that it is back. */
public final class Availability {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition recovered = lock.newCondition();

    /** Waits this long, or until the database is back. An interrupt ends the wait and is kept. */
    void await(Duration atMost) {
        lock.lock();
        try {
            recovered.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** The database answers. */
    public void recovered() {
        lock.lock();
        try {
            recovered.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
