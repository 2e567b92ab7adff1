package dev.steadwork.store;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what it heard. */
final class Hints implements Signals.Listener {
    final Set<Integer> ready = ConcurrentHashMap.newKeySet();
    final Set<Integer> ended = ConcurrentHashMap.newKeySet();
    final Set<Integer> requested = ConcurrentHashMap.newKeySet();
    final AtomicInteger gaps = new AtomicInteger();

    @Override
    public void ready(int topic) {
        ready.add(topic);
    }

    @Override
    public void ended(int runHash) {
        ended.add(runHash);
    }

    @Override
    public void requested(int runHash) {
        requested.add(runHash);
    }

    @Override
    public void gap() {
        gaps.incrementAndGet();
    }
}
