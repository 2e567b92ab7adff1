package dev.steadwork.claim;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes a loop that waits; a wake-up that comes before the wait is not lost, several count as one. */
final class Wakeup {
    private final Semaphore woken = new Semaphore(0);

    void wake() {
        if (woken.availablePermits() == 0) {
            woken.release();
        }
    }

    /** Waits for a wake-up, at most this long; whether there was one. */
    boolean await(long nanos) throws InterruptedException {
        boolean wasWoken = woken.tryAcquire(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        woken.drainPermits();
        return wasWoken;
    }
}
