package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.ChildOptions;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.TypeRef;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.claim.RunningWorker;
import dev.steadwork.codec.JsonCodec;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.Committer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Store;
import dev.steadwork.store.jdbc.JdbcStores;
import dev.steadwork.store.jdbc.StoreConfig;
import dev.steadwork.testing.CrashingStore;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * For every capability, a worker dies at its first checkpoint, at its second, and so on, once before the checkpoint is
 * committed and once after; another one finishes. The result is that of a run without a crash, and no step is executed
 * again whose checkpoint was committed.
 */
class CrashAtEveryCheckpointTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** More than any of the workflows here has: the last ones of a sweep do not crash. */
    private static final int MOST_CHECKPOINTS = 16;

    private static final Workflow<Integer, String> PARENT = Workflow.define("parent", Integer.class, String.class);
    private static final Workflow<Integer, String> CHILD = Workflow.define("child", Integer.class, String.class);

    /** What the handlers of one case do, and how often. */
    private static final class Case {
        final String namespace;
        final int number;
        final Store store;
        final Map<String, Integer> executions = new ConcurrentHashMap<>();

        Case(String namespace, int number, Store store) {
            this.namespace = namespace;
            this.number = number;
            this.store = store;
        }

        String count(String step) {
            executions.merge(step, 1, Integer::sum);
            return step;
        }
    }

    @FunctionalInterface
    private interface Scenario {
        String run(WorkflowContext ctx, Case own) throws Exception;
    }

    private record Outcome(RunStatus status, String output, String error) {
        static Outcome of(RunEnd end, Payloads payloads) {
            var error = end.error();
            return new Outcome(
                    end.status(),
                    String.valueOf(payloads.decode(end.output(), TypeRef.of(String.class))),
                    error == null ? "" : error.line());
        }
    }

    static Stream<Arguments> scenarios() {
        var scenarios = Map.<String, Scenario>ofEntries(
                Map.entry("steps and a sleep", CrashAtEveryCheckpointTest::stepsAndSleep),
                Map.entry("a step that is tried again", CrashAtEveryCheckpointTest::retriedStep),
                Map.entry("parallel steps", CrashAtEveryCheckpointTest::parallelSteps),
                Map.entry("any of several", CrashAtEveryCheckpointTest::anyOfSeveral),
                Map.entry("signals", CrashAtEveryCheckpointTest::signals),
                Map.entry("children", CrashAtEveryCheckpointTest::children),
                Map.entry("saga", CrashAtEveryCheckpointTest::saga),
                Map.entry("saga of a cancelled run", CrashAtEveryCheckpointTest::cancelledSaga),
                Map.entry("transactional steps", CrashAtEveryCheckpointTest::transactions),
                Map.entry("version", CrashAtEveryCheckpointTest::version));
        return Stream.of(TestDatabase.values())
                .flatMap(database -> scenarios.entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(scenario -> Arguments.of(database, scenario.getKey(), scenario.getValue())));
    }

    private static String stepsAndSleep(WorkflowContext ctx, Case own) {
        var first = ctx.step("first", String.class, step -> own.count("first"));
        ctx.sleep("nap", Duration.ofMillis(20));
        return first + ctx.step("second", String.class, step -> own.count("second"));
    }

    private static String retriedStep(WorkflowContext ctx, Case own) {
        return ctx.step("moody", String.class, Runs.attempts(10), step -> {
            own.count("attempt " + step.attempt());
            if (step.attempt() < 3) {
                throw new IllegalStateException("not yet");
            }
            return own.count("moody");
        });
    }

    private static String parallelSteps(WorkflowContext ctx, Case own) {
        var promises = new ArrayList<Promise<String>>();
        for (int i = 0; i < 3; i++) {
            var name = "async" + i;
            promises.add(ctx.async(name, String.class, step -> own.count(name)));
        }
        var mapped = ctx.map("square", List.of(1, 2, 3, 4), Integer.class, item -> item * item);
        return ctx.all(promises) + " " + mapped;
    }

    private static String anyOfSeveral(WorkflowContext ctx, Case own) {
        var failing = ctx.async("failing", String.class, step -> {
            throw new PermanentFailure("never mind");
        });
        var good = ctx.async("good", String.class, step -> own.count("good"));
        return ctx.any(List.of(failing, good)) + ctx.step("after", String.class, step -> own.count("after"));
    }

    private static String signals(WorkflowContext ctx, Case own) {
        var first = ctx.awaitEvent("go", String.class, PATIENCE);
        ctx.run("between", () -> own.count("between"));
        var second = ctx.awaitEvent("go", String.class, PATIENCE);
        try {
            return ctx.awaitEvent("never", String.class, Duration.ofMillis(20));
        } catch (AwaitTimeoutException late) {
            return first + second + "timeout";
        }
    }

    private static String children(WorkflowContext ctx, Case own) {
        var one = ctx.child(CHILD, 1);
        var two = ctx.child(CHILD, 2, ChildOptions.defaults().name("second"));
        ctx.run("between", () -> own.count("between"));
        return ctx.all(List.of(one, two)).toString();
    }

    private static String saga(WorkflowContext ctx, Case own) {
        ctx.compensateWith("undo-first", () -> own.count("undo-first"));
        ctx.run("first", () -> own.count("first"));
        ctx.compensateWith("undo-second", () -> own.count("undo-second"));
        ctx.run("second", () -> own.count("second"));
        throw new PermanentFailure("the end");
    }

    private static String cancelledSaga(WorkflowContext ctx, Case own) {
        ctx.compensateWith("undo-first", () -> own.count("undo-first"));
        ctx.run("first", () -> own.count("first"));
        ctx.compensateWith("undo-second", () -> own.count("undo-second"));
        ctx.run("cancel", () -> own.store.cancel(ctx.runId()));
        return ctx.awaitEvent("never", String.class, PATIENCE);
    }

    private static String transactions(WorkflowContext ctx, Case own) {
        int first = ctx.transaction("first", Integer.class, sql -> increment(sql, own));
        ctx.sleep("nap", Duration.ofMillis(20));
        int second = ctx.transaction("second", Integer.class, sql -> increment(sql, own));
        return first + " " + second;
    }

    private static String version(WorkflowContext ctx, Case own) {
        int version = ctx.version("change", 0, 3);
        ctx.run("step", () -> own.count("step"));
        return "version " + version + ctx.version("change", 0, 3);
    }

    private static int increment(Connection sql, Case own) throws SQLException {
        try (var update = sql.prepareStatement("UPDATE counter SET value = value + 1 WHERE name = ?")) {
            update.setString(1, own.namespace);
            update.executeUpdate();
        }
        return counter(sql, own);
    }

    private static int counter(Connection sql, Case own) throws SQLException {
        try (var query = sql.prepareStatement("SELECT value FROM counter WHERE name = ?")) {
            query.setString(1, own.namespace);
            try (var rows = query.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("scenarios")
    @Proves({"STEP-1", "STEP-8", "STEP-11", "EVENT-1", "CHILD-1", "SAGA-1", "RUN-3"})
    void the_result_is_that_of_a_run_without_a_crash(TestDatabase database, String name, Scenario scenario)
            throws Exception {
        var url = database.newUrl();
        var store =
                JdbcStores.open(new StoreConfig(url, null, null, null, "steadwork", 12, true, Duration.ofSeconds(60)));
        store.migrate();
        var threads = Executors.newFixedThreadPool(16);
        try (var connection = DriverManager.getConnection(url)) {
            createCounters(connection);
            var cases = new ArrayList<Future<Result>>();
            for (int checkpoint = 1; checkpoint <= MOST_CHECKPOINTS; checkpoint++) {
                for (boolean afterCommit : new boolean[] {false, true}) {
                    var own = new Case("case-%d-%s".formatted(checkpoint, afterCommit), checkpoint, store);
                    addCounter(connection, own);
                    var crashing = new CrashingStore(store, checkpoint, afterCommit);
                    cases.add(threads.submit(() -> crashAndRecover(store, crashing, own, scenario)));
                }
            }
            var results = new ArrayList<Result>();
            for (var future : cases) {
                results.add(future.get());
            }
            check(results, connection);
        } finally {
            threads.shutdownNow();
            store.close();
            if (database == TestDatabase.POSTGRES) {
                PostgresServer.dropDatabase(url);
            }
        }
    }

    private record Result(
            Case own, boolean crashed, Outcome outcome, Map<String, Integer> before, List<String> committed) {}

    private static void check(List<Result> results, Connection connection) throws SQLException {
        var calm = results.stream().filter(result -> !result.crashed).toList();
        assertThat(calm).as("sweeps past the last checkpoint").isNotEmpty();
        assertThat(results.size() - calm.size()).as("crashes").isGreaterThan(3);
        var expected = calm.get(0);
        for (var result : results) {
            assertThat(result.outcome).as(result.own.namespace).isEqualTo(expected.outcome);
            assertThat(result.own.executions.keySet())
                    .as("steps of " + result.own.namespace)
                    .containsAll(expected.own.executions.keySet());
            for (var step : result.committed) {
                assertThat(result.own.executions.get(step))
                        .as("%s: executions of %s, which was committed before the crash", result.own.namespace, step)
                        .isEqualTo(result.before.get(step));
            }
            assertThat(result.own.executions.values())
                    .as("executions in " + result.own.namespace)
                    .allSatisfy(times -> assertThat(times).isBetween(1, 2));
            assertThat(counter(connection, result.own)).isEqualTo(counter(connection, expected.own));
        }
    }

    private static Result crashAndRecover(Store store, CrashingStore crashing, Case own, Scenario scenario) {
        var payloads = payloads();
        var run = trigger(store, own);
        store.signal(run, "go", payloads.encode("signal", "one"));
        store.signal(run, "go", payloads.encode("signal", "two"));
        try (var first = new Engine(crashing.store(), own, scenario)) {
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> crashing.hasCrashed() || end(store, run) != null);
            if (!crashing.hasCrashed()) {
                return new Result(own, false, Outcome.of(end(store, run), payloads), Map.of(), List.of());
            }
            first.close();
            var committed = committed(store, run);
            var before = Map.copyOf(own.executions);
            try (var second = new Engine(store, own, scenario)) {
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> end(store, run) != null);
                return new Result(own, true, Outcome.of(end(store, run), payloads), before, committed);
            }
        }
    }

    /** The steps of the run and of its children that are durable, by the names they are counted under. */
    private static List<String> committed(Store store, RunId run) {
        var names = new ArrayList<String>();
        for (var step : store.steps(run)) {
            if (step.status() == StepStatus.COMPLETED) {
                names.add(step.name());
            }
            if (step.childRun() != null) {
                committed(store, step.childRun()).forEach(name -> names.add(step.name() + "/" + name));
            }
        }
        return names;
    }

    private static RunId trigger(Store store, Case own) {
        var run = new NewRun(
                RunIds.next(own.namespace, null),
                own.namespace,
                PARENT.name(),
                null,
                null,
                payloads().encode("input", own.number),
                0,
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                null,
                null,
                null,
                null,
                TriggerCheck.ACCEPT,
                Map.of(),
                null);
        store.triggerAll(List.of(run));
        return run.id();
    }

    private static RunEnd end(Store store, RunId run) {
        var ends = store.ends(List.of(run));
        return ends.isEmpty() ? null : ends.get(0);
    }

    private static Payloads payloads() {
        return new Payloads(new JsonCodec(), Payloads.DEFAULT_WARN_BYTES, Payloads.DEFAULT_MAX_BYTES);
    }

    private static void createCounters(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE counter (name VARCHAR(100) PRIMARY KEY, value INTEGER NOT NULL)");
        }
    }

    private static void addCounter(Connection connection, Case own) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO counter (name, value) VALUES (?, 0)")) {
            insert.setString(1, own.namespace);
            insert.executeUpdate();
        }
    }

    /** A worker on a store that may die. */
    private static final class Engine implements AutoCloseable {
        private final Committer committer;
        private final RunningWorker worker;

        Engine(Store store, Case own, Scenario scenario) {
            committer = new Committer(store);
            var surroundings = new RunningWorker.Surroundings(
                    store,
                    committer,
                    payloads(),
                    own.namespace,
                    new Workflow.Lease(Duration.ofMillis(1000), Duration.ofMillis(250)),
                    Duration.ofMillis(500),
                    5,
                    run -> end -> {});
            WorkflowHandler<Integer, String> parent = (ctx, input) -> scenario.run(ctx, own);
            WorkflowHandler<Integer, String> child = (ctx, input) -> {
                var prefix = input == 1 ? "child/" : "second/";
                ctx.run("work", () -> own.count(prefix + "work"));
                return "child " + input;
            };
            var handlers = Map.<String, WorkerBuilder.Handling<?, ?>>of(
                    PARENT.name(), new WorkerBuilder.Handling<>(PARENT, parent),
                    CHILD.name(), new WorkerBuilder.Handling<>(CHILD, child));
            worker = new RunningWorker(
                            surroundings,
                            new WorkerBuilder.Spec(
                                    own.namespace + "-" + System.nanoTime(),
                                    handlers,
                                    Set.of(PARENT.name(), CHILD.name()),
                                    Set.of(),
                                    Set.of(),
                                    8,
                                    Map.of(),
                                    Duration.ofMillis(1),
                                    null,
                                    Map.of()))
                    .start();
        }

        @Override
        public void close() {
            worker.close();
            committer.close();
        }
    }
}
