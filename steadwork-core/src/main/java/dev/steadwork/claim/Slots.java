package dev.steadwork.claim;

import java.util.HashMap;
import java.util.Map;

/** How many runs a worker may take: overall, and per workflow type where that is limited. */
final class Slots {
    private final int total;
    private final Map<String, Integer> limits;
    private final Map<String, Integer> usedByType = new HashMap<>();
    private int used;

    Slots(int total, Map<String, Integer> limits) {
        this.total = total;
        this.limits = limits;
    }

    synchronized int free() {
        return total - used;
    }

    /** How many runs of a limited type may be taken now. */
    synchronized int free(String type) {
        int limit = limits.getOrDefault(type, total);
        return Math.min(total - used, limit - usedByType.getOrDefault(type, 0));
    }

    synchronized int used() {
        return used;
    }

    synchronized void take(String type) {
        used++;
        usedByType.merge(type, 1, Integer::sum);
    }

    synchronized void release(String type) {
        used--;
        usedByType.merge(type, -1, Integer::sum);
    }
}
