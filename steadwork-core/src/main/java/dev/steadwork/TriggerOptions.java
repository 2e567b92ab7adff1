package dev.steadwork;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What may be said about one run when it is triggered. Every option returns a changed copy, so a prepared trigger can be
 * shared and used again.
 *
 * @param <S> the type of the trigger itself
 */
public abstract class TriggerOptions<S extends TriggerOptions<S>> implements Cloneable {
    private @Nullable String queue;
    private @Nullable String concurrencyKey;
    private @Nullable Instant startAt;
    private @Nullable Duration delay;
    private @Nullable Instant deadline;
    private @Nullable Duration deadlineAfter;
    private @Nullable String version;
    private @Nullable String externalId;
    private @Nullable String idempotencyKey;
    private @Nullable KeyPolicy keyPolicy;
    private @Nullable TriggerCheck check;
    private @Nullable RetryPolicy retry;
    private int priority;
    private Map<String, String> tags = Map.of();

    protected TriggerOptions() {}

    /** Runs in this queue instead of the workflow's. */
    public S queue(String name) {
        return changed(o -> o.queue = Check.name("queue", name));
    }

    /**
     * Whose run it is, for queues that limit how many runs of one key execute at once over all workers: see
     * {@link QueueLimit#perKey}. Without such a limit it has no effect.
     */
    public S concurrencyKey(String key) {
        return changed(o -> o.concurrencyKey = Check.name("concurrencyKey", key));
    }

    /** Starts no earlier than this time, by the database's clock. */
    public S startAt(Instant time) {
        return changed(o -> {
            o.startAt = Check.time("startAt", time);
            o.delay = null;
        });
    }

    /** Starts no earlier than this long after it was accepted. */
    public S delay(Duration wait) {
        return changed(o -> {
            o.delay = Check.notNegative("delay", wait);
            o.startAt = null;
        });
    }

    /** Fails with {@code deadline_exceeded} if it has not ended by this time. */
    public S deadline(Instant time) {
        return changed(o -> {
            o.deadline = Check.time("deadline", time);
            o.deadlineAfter = null;
        });
    }

    /** Fails with {@code deadline_exceeded} if it has not ended this long after it was accepted. */
    public S deadline(Duration wait) {
        return changed(o -> {
            o.deadlineAfter = Check.positive("deadline", wait);
            o.deadline = null;
        });
    }

    /** The version of the code that the run is meant for; workers may declare which they serve. */
    public S version(String name) {
        return changed(o -> o.version = Check.name("version", name));
    }

    /** Your own id of the run: searchable, not unique. */
    public S externalId(String id) {
        return changed(o -> o.externalId = Check.name("externalId", id));
    }

    /** At most one run has this key in the namespace; a second trigger returns the first run. */
    public S idempotencyKey(String key) {
        return changed(o -> o.idempotencyKey = Check.name("idempotencyKey", key));
    }

    /** How long the key stands for this run. */
    public S keyPolicy(KeyPolicy policy) {
        return changed(o -> o.keyPolicy = Check.notNull("keyPolicy", policy));
    }

    /** What must be known of the workflow type for the run to be accepted. */
    public S check(TriggerCheck demanded) {
        return changed(o -> o.check = Check.notNull("check", demanded));
    }

    /** How failures outside steps are tried again, instead of the workflow's policy. */
    public S retry(RetryPolicy policy) {
        return changed(o -> o.retry = Check.notNull("retry", policy));
    }

    /** Higher goes first; default 0. */
    public S priority(int value) {
        return changed(o -> o.priority = value);
    }

    /** A searchable key and value. */
    public S tag(String key, String value) {
        return changed(o -> {
            var all = new TreeMap<>(o.tags);
            all.put(Check.name("tag key", key), Check.text("value of tag " + key, value));
            o.tags = Map.copyOf(all);
        });
    }

    public @Nullable String queue() {
        return queue;
    }

    public @Nullable String concurrencyKey() {
        return concurrencyKey;
    }

    public @Nullable Instant startAt() {
        return startAt;
    }

    public @Nullable Duration delay() {
        return delay;
    }

    public @Nullable Instant deadline() {
        return deadline;
    }

    public @Nullable Duration deadlineAfter() {
        return deadlineAfter;
    }

    public @Nullable String version() {
        return version;
    }

    public @Nullable String externalId() {
        return externalId;
    }

    public @Nullable String idempotencyKey() {
        return idempotencyKey;
    }

    public @Nullable KeyPolicy keyPolicy() {
        return keyPolicy;
    }

    public @Nullable TriggerCheck check() {
        return check;
    }

    public @Nullable RetryPolicy retry() {
        return retry;
    }

    public int priority() {
        return priority;
    }

    public Map<String, String> tags() {
        return tags;
    }

    @SuppressWarnings("unchecked")
    private S changed(Consumer<TriggerOptions<S>> change) {
        try {
            var copy = (TriggerOptions<S>) clone();
            change.accept(copy);
            return (S) copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
