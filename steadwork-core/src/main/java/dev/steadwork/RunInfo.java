package dev.steadwork;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a run, except its payloads and steps.
 *
 * @param id the run's id
 * @param namespace the tenant it belongs to
 * @param type the name of its workflow
 * @param queue where it waits
 * @param concurrencyKey whose run it is, for limits per key, if that was said
 * @param status where it stands
 * @param priority higher goes first
 * @param attempt the number of the current or last attempt of the handler, from 1
 * @param retry how failures outside steps are tried again
 * @param version the version asked for at the trigger, if any
 * @param externalId the caller's own id of it, if any
 * @param idempotencyKey the key that stands for this run, if any
 * @param keyPolicy how long the key stands for it
 * @param parent the run and step that started it, if any
 * @param tags searchable keys and values
 * @param times when what happened
 * @param lease who holds it
 * @param error why it failed or last failed
 * @param runningStep the step that has been executing for longer than a heartbeat, if any
 * @param deletedReason why it was deleted, if it was
 * @param compensates whether it has registered undo steps
 */
public record RunInfo(
        RunId id,
        String namespace,
        String type,
        String queue,
        @Nullable String concurrencyKey,
        RunStatus status,
        int priority,
        int attempt,
        RetryPolicy retry,
        @Nullable String version,
        @Nullable String externalId,
        @Nullable String idempotencyKey,
        KeyPolicy keyPolicy,
        @Nullable Parent parent,
        Map<String, String> tags,
        Times times,
        Lease lease,
        @Nullable RunError error,
        @Nullable RunningStep runningStep,
        @Nullable String deletedReason,
        boolean compensates) {

    /** The run and the step of it that started this run. */
    public record Parent(RunId run, @Nullable String step) {}

    /**
     * When what happened, by the database's clock.
     *
     * @param due when the run needs attention next: ready since (PENDING), wakes at (SLEEPING), lease ends (RUNNING)
     */
    public record Times(
            Instant created,
            @Nullable Instant started,
            @Nullable Instant finished,
            @Nullable Instant paused,
            Instant updated,
            @Nullable Instant due,
            @Nullable Instant deadline,
            @Nullable Instant cancelRequested,
            @Nullable Instant pauseRequested,
            @Nullable Instant deleted) {}

    /**
     * Who holds the run.
     *
     * @param worker the id of the worker that executes it, if one does
     * @param epoch raised by every claim and every loss of a lease
     * @param lost how many leases ended without a word from their worker
     */
    public record Lease(@Nullable String worker, long epoch, int lost) {}

    /** A step that is being executed, and since when. */
    public record RunningStep(String name, Instant since) {}

    /** When it was accepted. */
    public Instant createdAt() {
        return times.created();
    }

    /** When it was first claimed; kept when it is claimed again. */
    public @Nullable Instant startedAt() {
        return times.started();
    }

    /** When it ended. */
    public @Nullable Instant finishedAt() {
        return times.finished();
    }

    /** The last error in one line, or null if nothing has failed. */
    public @Nullable String lastError() {
        return error == null ? null : error.line();
    }
}
