package dev.steadwork.benchmarks.measure;

/** One measured process: {@code Measure PEER WORKLOAD [MODE]}. */
public final class Measure {
    private Measure() {}

    public static void main(String[] arguments) {
        try {
            run(arguments[0], arguments[1], arguments);
            System.exit(0); // some peers leave threads behind
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String name, String workload, String[] arguments) throws Exception {
        switch (workload) {
            case "queue" -> new QueueLoad(peer(name)).run();
            case "latency" -> new LatencyLoad(peer(name), name, arguments[2]).run();
            case "feed" -> LatencyLoad.feed(peer(name));
            case "fill" -> fill(peer(name), Long.parseLong(arguments[2]), Long.parseLong(arguments[3]));
            case "horizon" -> new HeldHorizon(peer(name)).run();
            case "retention" -> RetentionLoad.run();
            case "limits" -> RawLimits.run();
            case "workflow" -> workflows(name);
            case "timers" -> TimerLateness.run();
            case "crash" -> CrashToResume.run();
            case "victim" -> CrashToResume.victim();
            case "memory" -> ClientMemory.run();
            default -> throw new IllegalArgumentException("no workload is called " + workload);
        }
    }

    private static Peer peer(String name) {
        return switch (name) {
            case "steadwork" -> new SteadworkPeer();
            case "raw" -> Db.isSqlite() ? new RawSqliteQueue() : new RawQueue();
            case "db-scheduler" -> new DbSchedulerPeer();
            case "jobrunr" -> new JobRunrPeer();
            case "dbos-java" -> new DbosPeer();
            default -> throw new IllegalArgumentException("no peer is called " + name);
        };
    }

    private static void workflows(String name) throws Exception {
        switch (name) {
            case "steadwork" -> SteadworkWorkflows.run();
            case "raw" -> {
                if (Db.isSqlite()) {
                    RawSqliteWorkflows.run();
                } else {
                    RawWorkflows.run();
                }
            }
            case "dbos-java" -> DbosPeer.workflows();
            case "temporal-test" -> TemporalPeer.workflows();
            default -> throw new IllegalArgumentException(name + " has no workflows");
        }
    }

    private static void fill(Peer peer, long finished, long sleeping) throws Exception {
        peer.setup();
        peer.fill(finished, sleeping);
    }
}
