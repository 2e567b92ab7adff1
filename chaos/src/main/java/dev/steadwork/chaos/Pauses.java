package dev.steadwork.chaos;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Time that passes on purpose. */
final class Pauses {
    private Pauses() {}

    static void pause(Duration time) {
        long until = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
