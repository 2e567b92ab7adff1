package dev.steadwork.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runs a worker got, best first.
 *
 * @param now the database's time of the claim
 * @param heldBack null unless the limit of a queue kept runs from a worker that would have taken them
 * @param lookAgainAfter null unless it was left for later to look at everything
 */
public record Claimed(
        Instant now,
        List<ClaimedRun> runs,
        @Nullable HeldBack heldBack,
        @Nullable Duration lookAgainAfter) {

    public static final Claimed NOTHING = new Claimed(Instant.EPOCH, List.of());

    public Claimed(Instant now, List<ClaimedRun> runs) {
        this(now, runs, null, null);
    }

    public Claimed(Instant now, List<ClaimedRun> runs, @Nullable HeldBack heldBack) {
        this(now, runs, heldBack, null);
    }

    /**
     * Runs wait for their queue's limit.
     *
     * @param retryAfter when the queue's rate allows the next start; null if one has to leave first
     */
    public record HeldBack(@Nullable Duration retryAfter) {}
}
