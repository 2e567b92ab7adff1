package dev.steadwork.claim;

import dev.steadwork.Workflow;
import dev.steadwork.execute.Execution;
import dev.steadwork.store.Heartbeat;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A run that this worker executes, and when its lease was last prolonged. */
final class Held {
    private final Execution execution;
    private final Workflow.Lease lease;
    private volatile long renewedAtNanos = System.nanoTime();

    Held(Execution execution, Workflow.Lease lease) {
        this.execution = execution;
        this.lease = lease;
    }

    Execution execution() {
        return execution;
    }

    /** Whether its lease wants a heartbeat before the next tick of the keeper. */
    boolean isDue(Duration tick) {
        return System.nanoTime() - renewedAtNanos
                >= lease.heartbeat().minus(tick).toNanos();
    }

    void renewed(long atNanos) {
        renewedAtNanos = atNanos;
    }

    Heartbeat.Held forHeartbeat() {
        var step = execution.runningStep();
        return new Heartbeat.Held(
                execution.id(),
                execution.epoch(),
                lease.duration(),
                step == null ? null : step.name(),
                runningFor(step));
    }

    private static @Nullable Duration runningFor(Execution.@Nullable RunningStep step) {
        return step == null ? null : Duration.ofNanos(System.nanoTime() - step.sinceNanos());
    }
}
