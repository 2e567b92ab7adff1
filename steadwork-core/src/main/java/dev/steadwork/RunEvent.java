package dev.steadwork;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a run.
 *
 * @param number rises with every event; events of a run are in the order in which its changes were committed
 * @param at by the database's clock
 * @param worker the worker that did it, or had the run, if one did
 * @param step the step that it is about, such as {@code charge#2}
 * @param attempt the attempt of the step, or of the handler
 * @param detail more about it: an error, a signal's name, until when it sleeps
 * @param actor who asked for it, see {@link RunHandle#by}
 * @param reason why they did
 */
public record RunEvent(
        long number,
        EventKind kind,
        Instant at,
        @Nullable String worker,
        @Nullable String step,
        @Nullable Integer attempt,
        @Nullable String detail,
        @Nullable String actor,
        @Nullable String reason) {}
