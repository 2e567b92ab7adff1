package dev.steadwork;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How a child is started. Immutable; every option returns a changed copy. What is not given is taken from the child's
 * workflow.
 *
 * @param name the name of the step in the parent; null means: the name of the child's workflow
 * @param queue the queue it waits in
 * @param concurrencyKey whose run it is, for queues with a limit per key; not that of its parent unless given
 * @param priority higher first
 * @param delay how long it waits before it starts
 * @param deadline how long it may take from now on
 * @param retry how failures of its handler are tried again
 * @param version its version
 * @param tags its tags
 * @param policy what becomes of it when the parent is cancelled or fails
 * @param isDetached whether the parent does not wait for it
 */
public record ChildOptions(
        @Nullable String name,
        @Nullable String queue,
        @Nullable String concurrencyKey,
        int priority,
        @Nullable Duration delay,
        @Nullable Duration deadline,
        @Nullable RetryPolicy retry,
        @Nullable String version,
        Map<String, String> tags,
        ChildPolicy policy,
        boolean isDetached) {
    private static final ChildOptions DEFAULTS =
            new ChildOptions(null, null, null, 0, null, null, null, null, Map.of(), ChildPolicy.CANCEL, false);

    public ChildOptions {
        if (name != null) {
            Check.name("name of the child's step", name);
        }
        if (queue != null) {
            Check.name("queue", queue);
        }
        if (concurrencyKey != null) {
            Check.name("concurrencyKey", concurrencyKey);
        }
        if (delay != null) {
            Check.notNegative("delay", delay);
        }
        if (deadline != null) {
            Check.positive("deadline", deadline);
        }
        if (version != null) {
            Check.name("version", version);
        }
        Check.notNull("policy", policy);
        tags = Map.copyOf(tags);
    }

    /** As the child's workflow says; cancelled with its parent. */
    public static ChildOptions defaults() {
        return DEFAULTS;
    }

    /** The name of the step in the parent. */
    public ChildOptions name(String stepName) {
        return new ChildOptions(
                stepName, queue, concurrencyKey, priority, delay, deadline, retry, version, tags, policy, isDetached);
    }

    public ChildOptions queue(String name) {
        return new ChildOptions(
                this.name, name, concurrencyKey, priority, delay, deadline, retry, version, tags, policy, isDetached);
    }

    /** Whose run it is, for queues that limit how many runs of one key execute at once: see {@link QueueLimit#perKey}. */
    public ChildOptions concurrencyKey(String key) {
        return new ChildOptions(name, queue, key, priority, delay, deadline, retry, version, tags, policy, isDetached);
    }

    public ChildOptions priority(int value) {
        return new ChildOptions(
                name, queue, concurrencyKey, value, delay, deadline, retry, version, tags, policy, isDetached);
    }

    public ChildOptions delay(Duration duration) {
        return new ChildOptions(
                name, queue, concurrencyKey, priority, duration, deadline, retry, version, tags, policy, isDetached);
    }

    /** The child fails if it has not ended by then. */
    public ChildOptions deadline(Duration fromNow) {
        return new ChildOptions(
                name, queue, concurrencyKey, priority, delay, fromNow, retry, version, tags, policy, isDetached);
    }

    public ChildOptions retry(RetryPolicy retryPolicy) {
        return new ChildOptions(
                name, queue, concurrencyKey, priority, delay, deadline, retryPolicy, version, tags, policy, isDetached);
    }

    public ChildOptions version(String name) {
        return new ChildOptions(
                this.name, queue, concurrencyKey, priority, delay, deadline, retry, name, tags, policy, isDetached);
    }

    public ChildOptions tag(String key, String value) {
        var all = new TreeMap<>(tags);
        all.put(Check.name("tag key", key), Check.text("value of tag " + key, value));
        return new ChildOptions(
                name, queue, concurrencyKey, priority, delay, deadline, retry, version, all, policy, isDetached);
    }

    /** The child goes on when the parent is cancelled or fails; the parent still waits for it. */
    public ChildOptions abandon() {
        return new ChildOptions(
                name,
                queue,
                concurrencyKey,
                priority,
                delay,
                deadline,
                retry,
                version,
                tags,
                ChildPolicy.ABANDON,
                isDetached);
    }

    /** The parent does not wait for the child, and the child goes on whatever becomes of the parent. */
    public ChildOptions detached() {
        return new ChildOptions(
                name,
                queue,
                concurrencyKey,
                priority,
                delay,
                deadline,
                retry,
                version,
                tags,
                ChildPolicy.ABANDON,
                true);
    }
}
