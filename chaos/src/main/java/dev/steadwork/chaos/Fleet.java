package dev.steadwork.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** The processes under fire: three workers and two clients, each replaced when it was killed or ended by itself. */
final class Fleet implements AutoCloseable {
    static final int CLIENTS = 2;

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

    void startWorkers() {
        for (int lane = 1; lane <= FaultPlan.WORKERS; lane++) {
            startWorker(lane);
        }
    }

    void startClients() {
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

    /** Lets time pass, and replaces workers that end by themselves, as those without a rule do. */
    void watch(Duration time, Consumer<String> say) {
        long until = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < until) {
            Pauses.pause(Duration.ofMillis(Math.min(100, time.toMillis())));
            for (int lane = 1; lane <= FaultPlan.WORKERS; lane++) {
                if (!worker(lane).isAlive()) {
                    say.accept(worker(lane).name() + " has ended by itself");
                    startWorker(lane);
                }
            }
        }
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

    /** Whether a client still waits for the end of what it began. */
    boolean hasClients() {
        return clients.values().stream().anyMatch(ChildJvm::isAlive);
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
