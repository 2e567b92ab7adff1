package dev.steadwork.execute;

import dev.steadwork.store.StepRecord;
import org.jspecify.annotations.Nullable;

/** The outcome of a step that is durable now, and the value itself if it completed. */
record Kept<T>(StepRecord step, @Nullable T value) {}
