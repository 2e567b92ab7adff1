package dev.steadwork.simulation.world;

import dev.steadwork.InvalidState;
import dev.steadwork.KeyPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.SteadworkException;
import dev.steadwork.TriggerCheck;
import dev.steadwork.TypeRef;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.claim.RunningWorker;
import dev.steadwork.codec.JsonCodec;
import dev.steadwork.codec.Payloads;
import dev.steadwork.simulation.Scheduler;
import dev.steadwork.simulation.SimulatedProcess;
import dev.steadwork.simulation.SimulatedThread;
import dev.steadwork.simulation.Simulation;
import dev.steadwork.store.Committer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.jdbc.SharedConnection;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A few workers, a client and one SQLite database in memory. Each seed begins with an empty one, triggers random
 * workflows and ends when all of them have ended.
 */
public final class World implements Simulation {
    static final Workflow<Integer, String> PARENT = Workflow.define("parent", Integer.class, String.class);
    static final Workflow<Integer, String> CHILD = Workflow.define("child", Integer.class, String.class);
    static final String NAMESPACE = "simulation";
    private static final Workflow.Lease LEASE = new Workflow.Lease(Duration.ofSeconds(3), Duration.ofMillis(1500));
    private static final Duration POLL = Duration.ofSeconds(5);
    /** More than any simulation needs whose runs do end. */
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    private static final int CRASH_BUDGET = 100;

    private final Payloads payloads =
            new Payloads(new JsonCodec(), Payloads.DEFAULT_WARN_BYTES, Payloads.DEFAULT_MAX_BYTES);
    private final Connection sql;
    private final PreparedStatement openRuns;
    private final Store database;
    private Scene scene;

    public World(String mutant) throws SQLException {
        var shared = SharedConnection.open();
        this.sql = shared.connection();
        try (var statement = sql.createStatement()) {
            statement.execute("CREATE TABLE simulated_count (key TEXT PRIMARY KEY, value INTEGER NOT NULL)");
        }
        this.openRuns = sql.prepareStatement(
                "SELECT count(*) FROM steadwork_run WHERE status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')");
        this.database = Mutant.valueOf(mutant).over(shared.store(), sql, this::between);
    }

    @Override
    public Verdict run(long seed, boolean traced) {
        var scheduler = new Scheduler(seed, traced);
        scene = new Scene(scheduler);
        var violations = new ArrayList<String>();
        try {
            empty();
            scheduler.run(scene::play);
            violations.addAll(scene.history.violations());
        } catch (InterruptedException | TimeoutException | RuntimeException | SQLException failed) {
            violations.addAll(scene.history.violations());
            violations.add(String.valueOf(failed));
        } finally {
            scene.subscription.close();
        }
        return new Verdict(
                seed,
                violations,
                scheduler.trace(),
                scheduler.digest(),
                scheduler.turns(),
                scene.faults.injected(),
                scene.begun,
                scene.processes.stream().mapToInt(ProcessStore::opened).sum());
    }

    /** A worker may die between two transactions that should be one. */
    private void between() {
        scene.faults.before("the second transaction", true);
    }

    private void empty() throws SQLException {
        try (var statement = sql.createStatement()) {
            for (var table : List.of("run", "step", "step_attempt", "signal", "worker", "worker_type", "definition")) {
                statement.addBatch("DELETE FROM steadwork_" + table);
            }
            statement.addBatch("DELETE FROM simulated_count");
            statement.executeBatch();
        }
        try {
            var tick = RunIds.class.getDeclaredField("lastTick");
            tick.setAccessible(true);
            ((AtomicLong) tick.get(null)).set(0);
        } catch (ReflectiveOperationException renamed) {
            throw new IllegalStateException(renamed);
        }
    }

    /** What happens under one seed. */
    private final class Scene implements Program.Around {
        private final Scheduler scheduler;
        private final Random random;
        private final History history;
        private final Faults faults;
        private final StaleWrites staleWrites;
        private final Map<Integer, Program> programs = new HashMap<>();
        private final List<ProcessStore> processes = new ArrayList<>();
        private final List<SimulatedProcess> workers = new ArrayList<>();
        private final Set<RunId> accepted = new LinkedHashSet<>();
        private final Map<String, RunId> keys = new LinkedHashMap<>();
        private final Signals.Subscription subscription = database.signals().subscribe(new Hints());
        private final Set<RunId> cancelled = new LinkedHashSet<>();
        private int open;
        private int changes;
        /** The workflow that the next worker triggers itself; 0 if none. */
        private int ofWorker;

        private SimulatedProcess triggering;
        private int begun;

        Scene(Scheduler scheduler) {
            this.scheduler = scheduler;
            this.random = scheduler.random();
            this.history = new History(scheduler);
            this.staleWrites = new StaleWrites(database, history);
            this.faults = new Faults(scheduler, LEASE.duration());
        }

        @Override
        public History history() {
            return history;
        }

        @Override
        public void work() throws InterruptedException {
            int kind = random.nextInt(10);
            if (kind < 5) {
                scheduler.pass();
            } else {
                long longest = kind < 9 ? 500_000 : LEASE.duration().toNanos() / 500;
                long micros = random.nextInt((int) longest);
                scheduler.waitInterruptibly(() -> false, scheduler.nanos() + micros * 1000);
            }
        }

        @Override
        public int childOf(int program, int call) {
            return 100 * program + call;
        }

        void play() {
            int runs = 1 + random.nextInt(4);
            int workerCount = random.nextInt(4) == 0 ? 3 : 2;
            if (random.nextBoolean()) {
                ofWorker = runs + 1;
                do {
                    write(ofWorker);
                } while (!programs.get(ofWorker)
                        .signals()
                        .isEmpty()); // nobody knows whom to send them to if it crashes
            }
            for (int i = 0; i < workerCount; i++) {
                startWorker();
            }
            for (int i = 1; i <= runs; i++) {
                write(i);
                var key = random.nextBoolean() ? "key" + i : null;
                startClient(i, key);
                if (key != null && random.nextBoolean()) {
                    startClient(i, key);
                }
            }
            long end = scheduler.nanos() + PATIENCE.toNanos();
            while (!haveAllEnded()) {
                if (scheduler.nanos() >= end) {
                    history.violated("not all runs have ended: " + new Ends(database, NAMESPACE).open(history));
                    return;
                }
                int before = changes;
                scheduler.waitUntil(() -> changes != before || hasCrashedWorker(), end);
                replaceCrashed();
            }
            new Verification(database, sql, payloads, history, programs, accepted, cancelled).verify();
        }

        private void write(int program) {
            programs.put(program, Program.random(program, 0, random));
            for (int call = 1; call <= 5; call++) {
                programs.put(childOf(program, call), Program.random(childOf(program, call), 1, random));
            }
        }

        private boolean haveAllEnded() {
            boolean mayTrigger = ofWorker != 0 || (triggering != null && !triggering.hasCrashed());
            return open == 0 && !mayTrigger && countOpen() == 0;
        }

        private int countOpen() {
            try (var rows = openRuns.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            } catch (SQLException failed) {
                throw new IllegalStateException(failed);
            }
        }

        private boolean hasCrashedWorker() {
            return workers.stream().anyMatch(SimulatedProcess::hasCrashed);
        }

        private void replaceCrashed() {
            if (hasCrashedWorker()) {
                workers.removeIf(SimulatedProcess::hasCrashed);
                scheduler.waitUntil(() -> false, scheduler.nanos() + faults.aWhile());
                startWorker();
            }
        }

        private ProcessStore process(String name, boolean mayCrash) {
            var process = new ProcessStore(
                    scheduler, faults, history, database, staleWrites, new SimulatedProcess(name), mayCrash);
            processes.add(process);
            return process;
        }

        private void startWorker() {
            var process = process("worker" + (processes.size() + 1), true);
            workers.add(process.process());
            SimulatedThread.in(process.process(), "start", () -> serve(process)).start();
        }

        /** As an application would: if it cannot start its worker it tries again. */
        private void serve(ProcessStore process) {
            var store = process.store();
            var committer = new Committer(store);
            while (true) {
                try {
                    var worker = new RunningWorker(
                                    surroundings(store, committer),
                                    spec(process.process().name()))
                            .start();
                    triggerBeside(worker, committer, process.process());
                    return;
                } catch (SteadworkException unavailable) {
                    scheduler.waitUntil(
                            () -> false,
                            scheduler.nanos() + Duration.ofSeconds(1).toNanos());
                }
            }
        }

        /** A run that the worker may begin with its creation. */
        private void triggerBeside(RunningWorker worker, Committer committer, SimulatedProcess process) {
            if (ofWorker == 0) {
                return;
            }
            var run = newRun(ofWorker, null);
            ofWorker = 0;
            triggering = process;
            scheduler.waitUntil(() -> false, scheduler.nanos() + faults.aWhile() / 8);
            try (var opening = worker.openingFor(run)) {
                var result = committer
                        .trigger(run, opening == null ? null : opening.starter())
                        .join();
                accepted.add(result.id());
                if (opening != null && result.started() != null) {
                    begun++;
                    opening.start(result.started());
                }
            } catch (CompletionException lost) {
                // it may exist, and must end like any other
            }
            triggering = null;
            changes++;
        }

        private RunningWorker.Surroundings surroundings(Store store, Committer committer) {
            return new RunningWorker.Surroundings(
                    store, committer, payloads, NAMESPACE, LEASE, POLL, CRASH_BUDGET, run -> end -> {});
        }

        private WorkerBuilder.Spec spec(String name) {
            WorkflowHandler<Integer, String> handler =
                    (ctx, input) -> programs.get(input).run(ctx, this);
            var handlers = new LinkedHashMap<String, WorkerBuilder.Handling<?, ?>>();
            handlers.put(PARENT.name(), new WorkerBuilder.Handling<>(PARENT, handler));
            handlers.put(CHILD.name(), new WorkerBuilder.Handling<>(CHILD, handler));
            return new WorkerBuilder.Spec(
                    name,
                    handlers,
                    Set.of(),
                    Set.of(),
                    Set.of(),
                    random.nextInt(3) == 0 ? 1 : 4, // with one slot, one short run shows what to expect
                    Map.of(),
                    Duration.ofSeconds(1),
                    null,
                    Map.of());
        }

        private void startClient(int program, String key) {
            open++;
            var process = process("client" + (processes.size() + 1), false);
            SimulatedThread.in(process.process(), "client", () -> ask(process, program, key))
                    .start();
        }

        /** Triggers a run, again and again if it has a key, and sends it its signals. */
        private void ask(ProcessStore process, int program, String key) {
            var store = process.store();
            var committer = new Committer(store);
            var run = trigger(committer, program, key);
            if (run != null) {
                accepted.add(run);
                if (key != null) {
                    var before = keys.putIfAbsent(key, run);
                    if (before != null && !before.equals(run)) {
                        history.violated(
                                "key %s stands for %s and %s".formatted(key, history.name(before), history.name(run)));
                    }
                }
                programs.get(program).signals().forEach(signal -> send(store, run, signal));
                if (random.nextInt(4) == 0) {
                    interfere(store, run);
                }
            }
            open--;
            changes++;
        }

        private RunId trigger(Committer committer, int program, String key) {
            while (true) {
                try {
                    var result = committer.trigger(newRun(program, key)).join();
                    if (result.outcome() != TriggerResult.Outcome.CREATED && key == null) {
                        history.violated("a trigger without a key was answered by " + result);
                    }
                    return result.id();
                } catch (CompletionException lost) {
                    if (key == null) {
                        signalWhatMayBeThere(program);
                        return null;
                    }
                    pause();
                }
            }
        }

        /** A run whose acceptance nobody heard of may exist, and must end like any other. */
        private void signalWhatMayBeThere(int program) {
            for (var run : database.listIds(NAMESPACE, Ends.ANY, null, 100)) {
                var input = payloads.decode(database.input(run), TypeRef.of(Integer.class));
                if (input == program) {
                    programs.get(program).signals().forEach(signal -> send(database, run, signal));
                }
            }
        }

        private void send(Store store, RunId run, String signal) {
            insist(() -> store.signal(run, signal, payloads.encode("signal", signal)));
        }

        /** Someone pauses the run and resumes it, or cancels it. */
        private void interfere(Store store, RunId run) {
            scheduler.waitUntil(() -> false, scheduler.nanos() + faults.aWhile() / 4);
            if (random.nextInt(3) == 0) {
                cancelled.add(run);
                insist(() -> store.cancel(run));
                return;
            }
            insist(() -> store.pause(run));
            pause();
            while (isPaused(run)) {
                insist(() -> store.resume(run));
            }
        }

        private boolean isPaused(RunId run) {
            var info = database.find(run);
            return info != null
                    && (info.status() == RunStatus.PAUSED || info.times().pauseRequested() != null)
                    && !info.status().isTerminal();
        }

        private void pause() {
            scheduler.waitUntil(() -> false, scheduler.nanos() + faults.aWhile());
        }

        /** Until it is answered; a run that has ended can be neither paused nor cancelled. */
        private void insist(Runnable request) {
            while (true) {
                try {
                    request.run();
                    return;
                } catch (InvalidState tooLate) {
                    return;
                } catch (SteadworkException lost) {
                    pause();
                }
            }
        }

        private NewRun newRun(int program, String key) {
            return new NewRun(
                    RunIds.next(NAMESPACE, key),
                    NAMESPACE,
                    PARENT.name(),
                    PARENT.options().queue(),
                    null,
                    payloads.encode("input", program),
                    random.nextInt(3),
                    NewRun.Moment.NONE,
                    NewRun.Moment.NONE,
                    null,
                    null,
                    null,
                    key,
                    key == null ? null : KeyPolicy.FOREVER,
                    TriggerCheck.ACCEPT,
                    Map.of(),
                    null);
        }

        /** Passes the database's hints on to the processes; some are lost. */
        private final class Hints implements Signals.Listener {
            private boolean isHeard() {
                return random.nextInt(8) != 0;
            }

            private List<Signals> listeners() {
                return processes.stream()
                        .filter(process -> !process.process().hasCrashed() && isHeard())
                        .map(ProcessStore::signals)
                        .toList();
            }

            @Override
            public void ready(int topic) {
                listeners().forEach(signals -> signals.ready(List.of(topic)));
            }

            @Override
            public void ended(int runHash) {
                changes++;
                listeners().forEach(signals -> signals.ended(List.of(runHash)));
            }

            @Override
            public void requested(int hash) {
                listeners().forEach(signals -> signals.requested(hash));
            }
        }
    }
}
