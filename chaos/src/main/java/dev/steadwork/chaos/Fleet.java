package dev.steadwork.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The processes under fire: three workers and two clients, each replaced when it was killed or ended by itself. */
final class Fleet implements AutoCloseable {
    private static final int CLIENTS = 2;

    private final Target target;
    private final Options options;
    private final Path folder;
    private final long startNanos = System.nanoTime();
    private final Map<Integer, ChildJvm> workers = new TreeMap<>();
    private final Map<Integer, ChildJvm> clients = new TreeMap<>();
    private final Map<String, Integer> generations = new TreeMap<>();

    Fleet(Target target, Options options, Path folder) {
        this.target = target;
        this.options = options;
        this.folder = folder;
    }

    void start() {
        for (int lane = 1; lane <= FaultPlan.WORKERS; lane++) {
            startWorker(lane);
        }
        for (int lane = 1; lane <= CLIENTS; lane++) {
            startClient(lane);
        }
    }

    ChildJvm worker(int lane) {
        return of(workers, lane);
    }

    /** The client that may be killed. */
    ChildJvm mortalClient() {
        return of(clients, CLIENTS);
    }

    private static ChildJvm of(Map<Integer, ChildJvm> all, int lane) {
        var child = all.get(lane);
        if (child == null) {
            throw new IllegalStateException("not started");
        }
        return child;
    }

    void startWorker(int lane) {
        workers.put(lane, ChildJvm.start(WorkerMain.class, setup("worker-" + lane, lane, target::workerUrl)));
    }

    void startMortalClient() {
        startClient(CLIENTS);
    }

    private void startClient(int lane) {
        clients.put(lane, ChildJvm.start(ClientMain.class, setup("client-" + lane, lane, target::clientUrl)));
    }

    /** Replaces workers that ended by themselves, as mutants do. */
    void replaceDead() {
        workers.forEach((lane, worker) -> {
            if (!worker.isAlive()) {
                startWorker(lane);
            }
        });
    }

    private Setup setup(String name, int lane, Function<Integer, String> url) {
        int generation = generations.merge(name, 1, Integer::sum);
        return new Setup(
                name + "." + generation,
                lane,
                url.apply(lane),
                target.url(),
                folder,
                options.lease(),
                options.rate() / CLIENTS,
                options.seed(),
                startNanos,
                options.mutant());
    }

    void stopClients() {
        clients.values().forEach(client -> client.tell("stop"));
    }

    /** Whether all clients saw the end of what they began. */
    boolean awaitClients(Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        return clients.values().stream()
                .allMatch(client -> client.awaitEnd(Duration.ofNanos(until - System.nanoTime())));
    }

    private static void killAll(Collection<ChildJvm> children) {
        children.forEach(ChildJvm::kill);
    }

    @Override
    public void close() {
        killAll(clients.values());
        killAll(workers.values());
    }
}
