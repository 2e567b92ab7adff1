package dev.steadwork.behaviour;

import java.util.concurrent.atomic.AtomicInteger;

/** How many are inside at once, at most. */
final class Gauge {
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();

    @FunctionalInterface
    interface Work<T> {
        T run() throws Exception;
    }

    <T> T around(Work<T> work) throws Exception {
        highest.accumulateAndGet(inside.incrementAndGet(), Math::max);
        try {
            return work.run();
        } finally {
            inside.decrementAndGet();
        }
    }

    int inside() {
        return inside.get();
    }

    int highest() {
        return highest.get();
    }
}
