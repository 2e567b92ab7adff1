package dev.steadwork;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a run: a UUIDv7, so ids sort by the time they were made. Its last 10 bits are the run's slot, from
 * which any process knows the run's shard without a look-up.
 */
public record RunId(UUID uuid) implements Comparable<RunId> {
    private static final int SLOT_MASK = 0x3FF;

    public RunId {
        Check.notNull("run id", uuid);
    }

    /** Reads the form that {@link #toString()} writes. */
    public static RunId parse(@Nullable String given) {
        var text = Check.notNull("run id", given);
        try {
            var id = new RunId(UUID.fromString(text));
            // Java reads groups of any length and drops what is too much: a mistyped id would be that of another run.
            if (id.toString().equalsIgnoreCase(text)) {
                return id;
            }
        } catch (IllegalArgumentException notAUuid) {
            // refused below, with our own words
        }
        var shown = text.length() > 40 ? text.substring(0, 40) + "..." : text;
        throw new InvalidArgument(
                "'%s' is not a run id; a run id is a UUID such as 0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e."
                        .formatted(shown));
    }

    /** The slot (0 to 1023) that decides the run's shard. */
    public int slot() {
        return (int) (uuid.getLeastSignificantBits() & SLOT_MASK);
    }

    /** Orders ids by the time they were made, as the database does. */
    @Override
    public int compareTo(RunId other) {
        int high = Long.compareUnsigned(uuid.getMostSignificantBits(), other.uuid.getMostSignificantBits());
        return high != 0
                ? high
                : Long.compareUnsigned(uuid.getLeastSignificantBits(), other.uuid.getLeastSignificantBits());
    }

    @Override
    public String toString() {
        return uuid.toString();
    }
}
