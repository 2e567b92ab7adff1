package dev.steadwork.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The order of measurements: in every round each part, in every part each peer, each in a fresh process and database. */
final class Plan {
    private final Options options;
    private final Cluster cluster;
    private final Processes processes;
    private final Path work;
    private final Set<String> templates = new HashSet<>();

    Plan(Options options, Cluster cluster, Processes processes, Path work) {
        this.options = options;
        this.cluster = cluster;
        this.processes = processes;
        this.work = work;
    }

    void round(int number) throws IOException, InterruptedException, SQLException {
        var round = Integer.toString(number);
        if (options.has(Part.LIMITS)) {
            new Pgbench(cluster, processes, options.quick() ? 2 : 10).run(round);
        }
        each(Part.LIMITS, round, "limits");
        inTurns(Part.QUEUE, round, "queue");
        inTurns(Part.WORKFLOW, round, "workflow");
        each(Part.LATENCY, round, "latency", "low");
        each(Part.TIMERS, round, "timers");
        each(Part.CRASH, round, "crash");
        memory(round);
        sqlite(round);
        growth(round);
        horizon(round);
        retention(round);
    }

    /** What one round is enough for. */
    void once() throws IOException, InterruptedException, SQLException {
        if (options.has(Part.LATENCY)) {
            for (var peer : options.peersOf(Part.LATENCY)) {
                // The poll interval decides; pg-boss's default is one job in two seconds, too slow for this test.
                if (!peer.equals("raw") && !peer.equals("pg-boss")) {
                    processes.run(fresh("1", peer, "latency", "default"));
                }
            }
        }
        if (options.has(Part.NOSYNC)) {
            for (var workload : List.of("queue", "workflow")) {
                var part = workload.equals("queue") ? Part.QUEUE : Part.WORKFLOW;
                for (var peer : options.peersOf(part)) {
                    var environment = cluster.environment(cluster.newDatabase(false));
                    processes.run(Measurement.of("nosync", peer, environment, workload));
                }
            }
        }
    }

    private void each(Part part, String round, String... arguments)
            throws IOException, InterruptedException, SQLException {
        if (options.has(part)) {
            for (var peer : options.peersOf(part)) {
                processes.run(fresh(round, peer, arguments));
            }
        }
    }

    private void inTurns(Part part, String round, String... arguments)
            throws IOException, InterruptedException, SQLException {
        if (options.has(part)) {
            var peers = new ArrayList<>(options.peersOf(part));
            peers.addAll(Processes.otherBuilds());
            var databases = cluster.newDatabases(peers.size());
            var all = new ArrayList<Measurement>();
            for (int i = 0; i < peers.size(); i++) {
                all.add(Measurement.of(round, peers.get(i), cluster.environment(databases.get(i)), arguments));
            }
            processes.run(all);
        }
    }

    private Measurement fresh(String round, String peer, String... arguments) throws SQLException {
        return Measurement.of(round, peer, cluster.environment(cluster.newDatabase(true)), arguments);
    }

    private void memory(String round) throws IOException, InterruptedException, SQLException {
        if (options.has(Part.MEMORY)) {
            for (var peer : options.peersOf(Part.MEMORY)) {
                processes.run(fresh(round, peer, "memory").heap("256m"));
            }
        }
    }

    private void sqlite(String round) throws IOException, InterruptedException {
        if (!options.has(Part.SQLITE)) {
            return;
        }
        for (var workload : List.of("queue", "workflow", "latency")) {
            for (var peer : options.peersOf(Part.SQLITE)) {
                if (workload.equals("latency") && peer.equals("raw")) {
                    continue;
                }
                var directory = Files.createTempDirectory(work, "sqlite");
                var environment = Map.of("BENCH_JDBC", "jdbc:sqlite:" + directory.resolve("bench.db"));
                var measurement = workload.equals("latency")
                        ? Measurement.of(round, peer, environment, workload, "low")
                        : Measurement.of(round, peer, environment, workload);
                processes.run(measurement.prefixed("w10_"));
            }
        }
    }

    private void growth(String round) throws IOException, InterruptedException, SQLException {
        if (!options.has(Part.GROWTH)) {
            return;
        }
        long most = options.finished().get(options.finished().size() - 1);
        for (long sleeping : List.of(0L, options.finished().get(1))) {
            for (long finished : options.finished()) {
                boolean isEnd = finished + sleeping == 0 || finished == most && sleeping > 0;
                if (isEnd || !options.growthEnds()) {
                    for (var peer : options.peersOf(Part.GROWTH)) {
                        grown(round, peer, finished, sleeping);
                    }
                }
            }
        }
    }

    private void grown(String round, String peer, long finished, long sleeping)
            throws IOException, InterruptedException, SQLException {
        var template = template(peer, finished, sleeping);
        if (!templates.contains(template)) {
            return;
        }
        for (var arguments : List.of(new String[] {"queue"}, new String[] {"latency", "low"})) {
            var environment = cluster.environment(cluster.newDatabase(template, true));
            processes.run(Measurement.of(round, peer, environment, arguments)
                    .prefixed("w9_%d_%d_".formatted(finished, sleeping))
                    .with(Map.of("prepared", "true", "idle", "false")));
        }
    }

    /** Filled once and copied for each measurement. */
    private String template(String peer, long finished, long sleeping)
            throws IOException, InterruptedException, SQLException {
        var name = "filled_%s_%d_%d".formatted(peer, finished, sleeping);
        if (!templates.contains(name)) {
            var environment = cluster.environment(cluster.newTemplate(name));
            var fill = Measurement.of("0", peer, environment, "fill", Long.toString(finished), Long.toString(sleeping));
            if (processes.run(fill.limit(3600))) {
                templates.add(name);
            }
        }
        return name;
    }

    private void retention(String round) throws IOException, InterruptedException, SQLException {
        if (options.has(Part.RETENTION)) {
            for (var peer : options.peersOf(Part.RETENTION)) {
                processes.run(fresh(round, peer, "retention").limit(3600));
            }
        }
    }

    private void horizon(String round) throws IOException, InterruptedException, SQLException {
        if (options.has(Part.HORIZON)) {
            for (var peer : options.peersOf(Part.HORIZON)) {
                processes.run(fresh(round, peer, "horizon").limit(options.horizonMinutes() * 60 + 1200));
            }
        }
    }
}
