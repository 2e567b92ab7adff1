package dev.steadwork.metrics;

import dev.steadwork.Observer;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;

/**
 * Steadwork's meters in a Micrometer registry. What happens in this process is counted and timed as it happens; what waits in
 * queues is asked of the database, at most every 15 s and only while somebody looks at the meters.
 *
 * <pre>{@code
 * SteadworkMetrics.bind(steadwork, registry);
 * }</pre>
 *
 * The meters are listed in docs/operations.md. Needs {@code io.micrometer:micrometer-core}, which Steadwork does not bring along.
 */
public final class SteadworkMetrics implements Observer {
    private final MeterRegistry registry;
    private final Timer claims;
    private final DistributionSummary claimedRuns;
    private final Timer commits;
    private final DistributionSummary committedWrites;

    private SteadworkMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.claims = Timer.builder("steadwork.claim")
                .description("How long claims took")
                .register(registry);
        this.claimedRuns = DistributionSummary.builder("steadwork.claim.runs")
                .description("How many runs a claim brought")
                .register(registry);
        this.commits = Timer.builder("steadwork.commit")
                .description("How long the transactions took that writes share")
                .register(registry);
        this.committedWrites = DistributionSummary.builder("steadwork.commit.writes")
                .description("How many writes shared a transaction")
                .register(registry);
    }

    /** Registers the meters of this instance; once per instance and registry. */
    public static void bind(Steadwork steadwork, MeterRegistry registry) {
        steadwork.observe(new SteadworkMetrics(registry));
        new QueueGauges(() -> steadwork.queues().stats(), registry).register();
    }

    @Override
    public void runEnded(String type, RunStatus status) {
        registry.counter("steadwork.runs", "type", type, "status", status.name().toLowerCase(Locale.ROOT))
                .increment();
    }

    @Override
    public void retried(String type) {
        registry.counter("steadwork.retries", "type", type).increment();
    }

    @Override
    public void leaseLost(String type) {
        registry.counter("steadwork.lease.losses", "type", type).increment();
    }

    @Override
    public void stepExecuted(String type, Duration took) {
        registry.timer("steadwork.step", "type", type).record(took);
    }

    @Override
    public void claimed(int runs, Duration took) {
        claims.record(took);
        claimedRuns.record(runs);
    }

    @Override
    public void committed(int writes, Duration took) {
        commits.record(took);
        committedWrites.record(writes);
    }

    @Override
    public void woken(String type, Duration late) {
        registry.timer("steadwork.timer.lateness", "type", type).record(late);
    }
}
