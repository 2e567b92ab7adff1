package dev.steadwork;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a run waits for, as things stood a moment ago.
 *
 * @param reason what it waits for
 * @param sentence the same in words, with names and numbers and what to do about it
 * @param until when it goes on by itself at the latest, if that is known
 */
public record Waiting(
        Reason reason, String sentence, @Nullable Instant until) {

    /** What a run may wait for. */
    public enum Reason {
        /** It has ended and waits for nothing. */
        ENDED,
        /** It was deleted: no worker takes it. */
        DELETED,
        /** A worker executes it. */
        EXECUTING,
        /** The worker that had it has fallen silent; the next one that looks takes it over. */
        WORKER_LOST,
        /** It was paused. */
        PAUSED,
        /** It starts later. */
        START_TIME,
        /** It sleeps. */
        SLEEP,
        /** It, or a step of it, failed and is tried again later. */
        RETRY,
        /** It waits for a signal. */
        SIGNAL,
        /** It waits for a child. */
        CHILD,
        /** It waits for any of several: signals, children, or steps that are tried again. */
        ANY,
        /** Its namespace is disabled. */
        NAMESPACE_DISABLED,
        /** No worker that is online takes runs like it. */
        NO_WORKER,
        /** The limit of its queue lets no more runs through. */
        QUEUE_LIMIT,
        /** The workers that could take it execute as many runs as they may. */
        WORKERS_BUSY,
        /** Others of its queue come first. */
        BEHIND_OTHERS,
        /** Nothing keeps it: a worker is about to take it. */
        ABOUT_TO_START
    }
}
