package dev.steadwork;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An event on its way out of the outbox.
 *
 * @param number rises with every event; those of a run go out in this order
 * @param workflow the type of the run
 * @param at when it happened, by the database's clock
 * @param worker the worker that did it, if one did
 * @param step the step that it is about, such as {@code charge#2}
 * @param attempt the attempt of the step, or of the handler
 * @param detail more about it, such as an error; a long one is trimmed and says so
 * @param actor who asked for it, see {@link RunHandle#by}
 * @param reason why they did
 */
public record OutboxEvent(
        long number,
        RunId run,
        String namespace,
        String workflow,
        EventKind kind,
        Instant at,
        @Nullable String worker,
        @Nullable String step,
        @Nullable Integer attempt,
        @Nullable String detail,
        @Nullable String actor,
        @Nullable String reason) {

    /** The same for every delivery of this event and for no other event, so that a receiver can leave out repetitions. */
    public String id() {
        return run + "." + number;
    }
}
