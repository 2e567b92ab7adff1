package dev.steadwork.claim;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How many runs a worker may take: overall, and per workflow type where that is limited. */
final class Slots {
    /** So many are set aside for one claim, even if they are more than half: claiming them does not take long. */
    private static final int FEW = 256;

    /** Of many, so many are set aside for a claim while nothing is executed: it is better to begin soon than to take more. */
    private static final int FIRST = 128;

    private final int total;
    private final Map<String, Integer> limits;
    private final Map<String, Integer> usedByType = new HashMap<>();
    private int used;
    private int reserved;
    private @Nullable String reservedFor;

    Slots(int total, Map<String, Integer> limits) {
        this.total = total;
        this.limits = limits;
    }

    synchronized int used() {
        return used;
    }

    /** Whether less than a quarter of them is free. */
    synchronized boolean areFew() {
        return used > 0 && 4 * (total - used) < total;
    }

    /** Whether more than half of them are taken. */
    synchronized boolean areMostlyUsed() {
        return 2 * used > total;
    }

    /**
     * Sets free slots aside for a claim that is under way; how many there are. One claim at a time, and of many slots never for
     * more than half: while one half is executed and its ends are written, the other is claimed. An idle worker begins with fewer.
     *
     * @param limitedType the type that the claim is for, if its limit bounds it
     * @param all or only half of those that are free, and at least one
     * @param areShort whether runs leave their slots before their ends are written: then the claim is for as many as there are
     */
    synchronized int reserve(@Nullable String limitedType, boolean all, boolean areShort) {
        int free = Math.max(0, limitedType == null ? total - used : free(limitedType));
        int most = areShort ? total : used == 0 && total > FEW ? FIRST : Math.max(FEW, total / 2);
        reserved = Math.min(all ? free : free - free / 2, most);
        reservedFor = limitedType;
        return reserved;
    }

    /** The claim is over, and has taken what it got. */
    synchronized void unreserve() {
        reserved = 0;
        reservedFor = null;
    }

    synchronized void take(String type) {
        used++;
        usedByType.merge(type, 1, Integer::sum);
    }

    /** Takes one for this type, if so many free ones remain for others. */
    synchronized boolean tryTake(String type, int remaining) {
        int taken = type.equals(reservedFor) ? reserved : 0;
        if (free(type) - taken < 1 || total - used - reserved - 1 < remaining) {
            return false;
        }
        take(type);
        return true;
    }

    /** Whether none is free for this type, not even one that is set aside. */
    synchronized boolean isFull(String type) {
        return free(type) < 1;
    }

    private int free(String type) {
        int limit = limits.getOrDefault(type, total);
        return Math.min(total - used, limit - usedByType.getOrDefault(type, 0));
    }

    synchronized void release(String type) {
        used--;
        usedByType.merge(type, -1, Integer::sum);
    }
}
