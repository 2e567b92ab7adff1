package dev.steadwork.store;

import dev.steadwork.ExpiredRuns;
import dev.steadwork.RunId;
import org.jspecify.annotations.Nullable;

/**
 * Part of a walk over the runs of a namespace, oldest first.
 *
 * @param expired what was found, and deleted if that was asked for
 * @param last where to go on; null if everything was looked at
 */
public record Swept(ExpiredRuns.Count expired, @Nullable RunId last) {}
