package dev.steadwork.store;

import dev.steadwork.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a trigger.
 *
 * @param outcome what became of it
 * @param id the new run, or the one that holds the key
 * @param holderType the type of the run that holds the key, if there is one
 * @param started the run as its starter holds it now; null if it waits for a claim
 */
public record TriggerResult(
        Outcome outcome,
        RunId id,
        @Nullable String holderType,
        @Nullable Started started) implements WriteResult {

    public TriggerResult(Outcome outcome, RunId id, @Nullable String holderType) {
        this(outcome, id, holderType, null);
    }

    /** A run that began with its creation, and what the database's clock showed then. */
    public record Started(ClaimedRun run, Instant now) {}

    /** What became of a trigger. */
    public enum Outcome {
        CREATED,
        /** A run of the same type holds the key. */
        EXISTED,
        /** The key belongs to a run of another type. */
        KEY_OF_OTHER_TYPE,
        /** Nobody registered the type. */
        UNKNOWN_TYPE,
        /** No online worker serves the type. */
        NO_WORKER_ONLINE,
        /** The namespace takes no triggers. */
        NAMESPACE_DISABLED
    }

    public boolean accepted() {
        return outcome == Outcome.CREATED || outcome == Outcome.EXISTED;
    }

    /** Why no run of this type was created. */
    public String whyRefused(String namespace, String type) {
        return switch (outcome) {
            case UNKNOWN_TYPE ->
                "Workflow %s is not registered in namespace %s. Start a worker that handles it, or call steadwork.register(...)."
                        .formatted(type, namespace);
            case NO_WORKER_ONLINE ->
                "No worker for workflow %s is online in namespace %s. Start one.".formatted(type, namespace);
            case KEY_OF_OTHER_TYPE ->
                "The idempotency key belongs to run %s of workflow %s, not %s.".formatted(id, holderType, type);
            case NAMESPACE_DISABLED ->
                "Namespace %s is disabled and takes no triggers. Enable it.".formatted(namespace);
            case CREATED, EXISTED -> throw new IllegalStateException(toString());
        };
    }
}
