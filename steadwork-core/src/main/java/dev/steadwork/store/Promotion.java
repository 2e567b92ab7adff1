package dev.steadwork.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What became ready.
 *
 * @param promoted how many runs are PENDING now
 * @param untilNext how long until the next timer or lease of the queues is due, by the database's clock: zero if more are
 *     due already, null if there is none that had to be told of
 */
public record Promotion(int promoted, @Nullable Duration untilNext) {}
