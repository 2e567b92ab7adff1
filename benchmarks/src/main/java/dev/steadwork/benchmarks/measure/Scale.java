package dev.steadwork.benchmarks.measure;

/** How much is measured, as the harness says by system properties. */
final class Scale {
    static final int RUNS = Integer.getInteger("jobs", 20_000);
    static final int WORKFLOWS = Integer.getInteger("workflows", 20_000);
    /** Workflows of a peer that does some hundred a second. */
    static final int SLOW_WORKFLOWS = Math.min(2000, WORKFLOWS);

    static final int IN_FLIGHT = Integer.getInteger("inflight", 1024);
    /** How long latencies and idle load are observed. */
    static final int SECONDS = Integer.getInteger("seconds", 20);
    /** How long a workload is repeated before it is measured. */
    static final int WARM_SECONDS = Integer.getInteger("warm", 30);
    /** Longer where only some hundred runs a second come: compilers take the processors until they have seen some thousand. */
    static final int LATENCY_WARM_SECONDS = 2 * WARM_SECONDS;

    static final int TIMERS = Integer.getInteger("timers", 10_000);
    static final int KILLS = Integer.getInteger("kills", 5);
    static final int LEASE_SECONDS = Integer.getInteger("lease", 5);
    static final int SLEEPERS = Integer.getInteger("sleepers", 10_000);
    static final int HORIZON_SECONDS = Integer.getInteger("horizon", 600);
    static final int HORIZON_RATE = Integer.getInteger("horizon.rate", 1000);

    /** Finished runs that are deleted for good. */
    static final int EXPIRED = Integer.getInteger("expired", 1_000_000);

    private Scale() {}
}
