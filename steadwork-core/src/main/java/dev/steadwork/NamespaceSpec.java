package dev.steadwork;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a namespace, to be changed by {@link Namespaces#create} and {@link Namespaces#update}. What is not named stays
 * as it is. Not safe for use by several threads.
 */
public final class NamespaceSpec {
    private NamespaceInfo.Retention retention;
    private boolean audit;
    private Set<EventKind> outbox;
    private @Nullable PayloadLimits payloadLimits;
    private @Nullable RetryPolicy retry;

    NamespaceSpec(NamespaceInfo before) {
        this.retention = before.retention();
        this.audit = before.audit();
        this.outbox = before.outbox();
        this.payloadLimits = before.payloadLimits();
        this.retry = before.retry();
    }

    /** For how long a run is kept after it completed; null: for ever, which is the default. */
    public NamespaceSpec keepCompleted(@Nullable Duration time) {
        var r = retention;
        retention = new NamespaceInfo.Retention(checked("keepCompleted", time), r.failed(), r.cancelled(), r.deleted());
        return this;
    }

    /** For how long a run is kept after it failed; null: for ever, which is the default. */
    public NamespaceSpec keepFailed(@Nullable Duration time) {
        var r = retention;
        retention = new NamespaceInfo.Retention(r.completed(), checked("keepFailed", time), r.cancelled(), r.deleted());
        return this;
    }

    /** For how long a run is kept after it was cancelled; null: for ever, which is the default. */
    public NamespaceSpec keepCancelled(@Nullable Duration time) {
        var r = retention;
        retention = new NamespaceInfo.Retention(r.completed(), r.failed(), checked("keepCancelled", time), r.deleted());
        return this;
    }

    /** For how long a run is kept after it was deleted; null: for ever, which is the default. */
    public NamespaceSpec keepDeleted(@Nullable Duration time) {
        var r = retention;
        retention = new NamespaceInfo.Retention(r.completed(), r.failed(), r.cancelled(), checked("keepDeleted", time));
        return this;
    }

    private static @Nullable Duration checked(String what, @Nullable Duration time) {
        return time == null ? null : Check.notNegative(what, time);
    }

    /** Whether what happens to runs is recorded, see {@link RunHandle#events()}. Default false. */
    public NamespaceSpec audit(boolean on) {
        audit = on;
        return this;
    }

    /** Whether {@linkplain EventKind#milestones() milestones} of runs are published. Default false. */
    public NamespaceSpec outbox(boolean on) {
        outbox = on ? EventKind.milestones() : Set.of();
        return this;
    }

    /** Publishes these kinds of events, and no others. */
    public NamespaceSpec outbox(EventKind first, EventKind... more) {
        outbox = EnumSet.of(Check.notNull("event kind", first), Check.notNull("event kinds", more));
        return this;
    }

    /** From which size a payload is warned of, and over which it is refused, whatever a process was opened with. */
    public NamespaceSpec payloadLimits(int warnAtBytes, int refuseOverBytes) {
        payloadLimits = new PayloadLimits(warnAtBytes, refuseOverBytes);
        return this;
    }

    /** How large payloads may be is left to the process that makes them, which is the default. */
    public NamespaceSpec payloadLimitsOfProcess() {
        payloadLimits = null;
        return this;
    }

    /**
     * How runs are tried again whose workflow and trigger set no policy; one that equals {@link RetryPolicy#defaults()} counts
     * as none for a workflow. Null: the defaults.
     */
    public NamespaceSpec retry(@Nullable RetryPolicy policy) {
        retry = policy;
        return this;
    }

    NamespaceInfo applyTo(NamespaceInfo before) {
        return new NamespaceInfo(
                before.name(),
                before.createdAt(),
                before.updatedAt(),
                before.disabledAt(),
                retention,
                audit,
                outbox,
                payloadLimits,
                retry);
    }
}
