package dev.steadwork;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A named definition: what goes in, what comes out, and how its runs are treated unless a trigger says otherwise. The
 * name is the identity. Immutable; every option returns a changed copy.
 *
 * <pre>{@code
 * static final Workflow<Order, Receipt> CHECKOUT = Workflow.define("checkout", Order.class, Receipt.class);
 * }</pre>
 *
 * @param <I> the input
 * @param <O> the output
 */
public final class Workflow<I, O> {
    private final String name;
    private final TypeRef<I> inputType;
    private final TypeRef<O> outputType;
    private final Options options;

    /** What may be set on a definition; null means: the engine's default. */
    public record Options(
            String queue,
            RetryPolicy retry,
            @Nullable Duration timeout,
            @Nullable Lease lease,
            @Nullable String deadLetter,
            KeyPolicy keyPolicy,
            TriggerCheck check) {

        /** The policy, or null if it is the one that a workflow has that sets none. */
        public @Nullable RetryPolicy chosenRetry() {
            return retry.equals(RetryPolicy.defaults()) ? null : retry;
        }
    }

    /** How long a claim lasts without a heartbeat, and how often the heartbeat comes. */
    public record Lease(Duration duration, Duration heartbeat) {
        public Lease {
            Check.positive("lease", duration);
            Check.positive("heartbeat", heartbeat);
            if (heartbeat.compareTo(duration) >= 0) {
                throw new InvalidArgument(
                        "heartbeat is %s and lease is %s; the heartbeat must be shorter, a third of the lease is good."
                                .formatted(heartbeat, duration));
            }
        }
    }

    private Workflow(String name, TypeRef<I> inputType, TypeRef<O> outputType, Options options) {
        this.name = name;
        this.inputType = inputType;
        this.outputType = outputType;
        this.options = options;
    }

    /** A workflow of this name; its queue has the same name. */
    public static <I, O> Workflow<I, O> define(String name, Class<I> input, Class<O> output) {
        return define(name, TypeRef.of(input), TypeRef.of(output));
    }

    /** A workflow whose input or output has type arguments. */
    public static <I, O> Workflow<I, O> define(String name, TypeRef<I> input, TypeRef<O> output) {
        Check.name("workflow name", name);
        Check.notNull("input type", input);
        Check.notNull("output type", output);
        var options = new Options(
                name, RetryPolicy.defaults(), null, null, null, KeyPolicy.FOREVER, TriggerCheck.REQUIRE_REGISTERED);
        return new Workflow<>(name, input, output, options);
    }

    /** Runs wait in this queue instead of one of their own. Workflows that share workers may share a queue. */
    public Workflow<I, O> onQueue(String queue) {
        var o = options;
        return with(new Options(
                Check.name("queue", queue), o.retry, o.timeout, o.lease, o.deadLetter, o.keyPolicy, o.check));
    }

    /**
     * How failures outside steps are tried again. Default: that of the namespace, which is {@link RetryPolicy#defaults()} unless
     * {@link NamespaceSpec#retry} changed it.
     */
    public Workflow<I, O> retry(RetryPolicy retry) {
        var o = options;
        return with(new Options(
                o.queue, Check.notNull("retry", retry), o.timeout, o.lease, o.deadLetter, o.keyPolicy, o.check));
    }

    /** A run that has not ended this long after it was due to start fails with {@code deadline_exceeded}. Default: none. */
    public Workflow<I, O> timeout(Duration timeout) {
        var o = options;
        return with(new Options(
                o.queue, o.retry, Check.positive("timeout", timeout), o.lease, o.deadLetter, o.keyPolicy, o.check));
    }

    /**
     * How long a worker's claim on a run of this type lasts without a heartbeat, and how often the heartbeat comes.
     * Default: the engine's. Shorter means a faster take-over after a crash and more heartbeats.
     */
    public Workflow<I, O> lease(Duration lease, Duration heartbeat) {
        var o = options;
        return with(new Options(
                o.queue, o.retry, o.timeout, new Lease(lease, heartbeat), o.deadLetter, o.keyPolicy, o.check));
    }

    /** A run that fails triggers this workflow with a {@link DeadLetter}, in the transaction that fails it. */
    public Workflow<I, O> deadLetter(Workflow<DeadLetter, ?> workflow) {
        var o = options;
        var target = Check.notNull("dead-letter workflow", workflow).name();
        return with(new Options(o.queue, o.retry, o.timeout, o.lease, target, o.keyPolicy, o.check));
    }

    /** How long an idempotency key stands for its run, unless the trigger says otherwise. */
    public Workflow<I, O> keyPolicy(KeyPolicy policy) {
        var o = options;
        return with(new Options(
                o.queue, o.retry, o.timeout, o.lease, o.deadLetter, Check.notNull("keyPolicy", policy), o.check));
    }

    /** What is demanded of the type at a trigger, unless the trigger says otherwise. */
    public Workflow<I, O> check(TriggerCheck check) {
        var o = options;
        return with(new Options(
                o.queue, o.retry, o.timeout, o.lease, o.deadLetter, o.keyPolicy, Check.notNull("check", check)));
    }

    private Workflow<I, O> with(Options changed) {
        return new Workflow<>(name, inputType, outputType, changed);
    }

    /** The name, which is the identity. */
    public String name() {
        return name;
    }

    public TypeRef<I> inputType() {
        return inputType;
    }

    public TypeRef<O> outputType() {
        return outputType;
    }

    /** How runs of it are treated. */
    public Options options() {
        return options;
    }

    @Override
    public String toString() {
        return name;
    }
}
