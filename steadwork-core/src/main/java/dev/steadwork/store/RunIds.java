package dev.steadwork.store;

import dev.steadwork.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Makes run ids: UUIDv7 whose first 60 bits only ever grow within a process, so that runs triggered one after the other
 * also sort so, and whose last 10 bits are the run's slot.
 */
public final class RunIds {
    /** Slots in all; a shard owns a contiguous part of them. */
    public static final int SLOTS = 1024;

    private static final int COUNTER_BITS = 12;
    private static final AtomicLong lastTick = new AtomicLong();

    private RunIds() {}

    /** An id in the slot of its idempotency key, so that one shard decides about a key; without a key, in any slot. */
    public static RunId next(String namespace, @Nullable String idempotencyKey) {
        int slot = idempotencyKey == null
                ? ThreadLocalRandom.current().nextInt(SLOTS)
                : slotOfKey(namespace, idempotencyKey);
        return inSlot(slot);
    }

    /** An id in the slot of another run, so that both can change in one transaction. */
    public static RunId beside(RunId other) {
        return inSlot(other.slot());
    }

    /** The smallest id of its millisecond: the first 48 bits of a UUIDv7 are its time. */
    public static RunId atTime(Instant time) {
        long millis = Math.max(0, Math.min(time.toEpochMilli(), (1L << 48) - 1));
        return new RunId(new UUID(millis << 16, 0));
    }

    /** The slot of a key. Frozen: stored runs depend on it. CRC-32 of namespace, NUL and key in UTF-8, last 10 bits. */
    static int slotOfKey(String namespace, String key) {
        var crc = new CRC32();
        crc.update((namespace + '\0' + key).getBytes(StandardCharsets.UTF_8));
        return (int) (crc.getValue() & (SLOTS - 1));
    }

    private static RunId inSlot(int slot) {
        long now = System.currentTimeMillis() << COUNTER_BITS;
        long tick = lastTick.updateAndGet(last -> Math.max(last + 1, now));
        long high = (tick >>> COUNTER_BITS << 16) | 0x7000L | (tick & 0xFFF);
        long random = ThreadLocalRandom.current().nextLong() & 0x3FFFFFFFFFFFFFFFL;
        long low = 0x8000000000000000L | (random & -SLOTS) | slot;
        return new RunId(new UUID(high, low));
    }
}
