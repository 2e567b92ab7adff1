package dev.steadwork.simulation.world;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.ChildOptions;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RetryPolicy;
import dev.steadwork.StepContext;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepOptions;
import dev.steadwork.WorkflowContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What a workflow of the simulation does: a few random calls, the same in every execution.
 *
 * @param number the input of its runs
 * @param calls what it does, one after the other
 * @param fails whether it fails in the end, and so executes its undo steps
 */
record Program(int number, List<Call> calls, boolean fails) {
    private static final RetryPolicy AT_ONCE =
            RetryPolicy.defaults().withInitialInterval(Duration.ofMillis(200)).withJitter(0);
    private static final RetryPolicy LATER =
            RetryPolicy.defaults().withInitialInterval(Duration.ofMillis(1500)).withJitter(0);
    private static final Duration LONG = Duration.ofHours(1);

    /** The kinds of calls. */
    enum Kind {
        STEP,
        RETRIED,
        RETRIED_LATER,
        FAILED,
        SLEEP,
        PARALLEL,
        MAP,
        ANY,
        CHILD,
        CHILD_BESIDE,
        SIGNAL,
        TIMEOUT,
        TRANSACTION,
        UNDO
    }

    /** One call, with a number that makes its names its own. */
    record Call(Kind kind, int number, Duration time) {
        String named(String what) {
            return what + number;
        }
    }

    static Program random(int number, int depth, Random random) {
        var calls = new ArrayList<Call>();
        boolean isShort = random.nextInt(4) == 0; // and makes no durable call
        int count = isShort ? 0 : 1 + random.nextInt(depth == 0 ? 5 : 3);
        for (int i = 1; i <= count; i++) {
            var kind = Kind.values()[random.nextInt(Kind.values().length)];
            boolean tooDeep = depth > 0 && (kind == Kind.CHILD || kind == Kind.CHILD_BESIDE || kind == Kind.SIGNAL);
            calls.add(new Call(tooDeep ? Kind.STEP : kind, i, Duration.ofMillis(50 + random.nextInt(3000))));
        }
        return new Program(number, calls, random.nextInt(6) == 0);
    }

    /** The names of the signals that it waits for. */
    List<String> signals() {
        return calls.stream()
                .filter(call -> call.kind == Kind.SIGNAL)
                .map(call -> call.named("go"))
                .toList();
    }

    /** What the world around the handlers offers to them. */
    interface Around {
        History history();

        /** Takes a while, as work does. */
        void work() throws InterruptedException;

        int childOf(int program, int call);
    }

    String run(WorkflowContext ctx, Around around) throws Exception {
        var results = new ArrayList<String>();
        for (var call : calls) {
            results.add(new Performance(ctx, around, call).perform());
        }
        if (fails) {
            throw new PermanentFailure("as it should");
        }
        return String.join(" ", results);
    }

    /** One call in one execution of the handler. */
    private final class Performance {
        private final WorkflowContext ctx;
        private final Around around;
        private final History history;
        private final Call call;

        Performance(WorkflowContext ctx, Around around, Call call) {
            this.ctx = ctx;
            this.around = around;
            this.history = around.history();
            this.call = call;
        }

        String perform() throws Exception {
            return switch (call.kind) {
                case STEP -> step("step", StepOptions.defaults(), 0);
                case RETRIED -> step("moody", StepOptions.defaults().retry(AT_ONCE), 1 + call.number % 2);
                case RETRIED_LATER -> step("late", StepOptions.defaults().retry(LATER), 1);
                case FAILED -> failed();
                case SLEEP -> slept();
                case PARALLEL -> all();
                case MAP -> map();
                case ANY -> any();
                case CHILD -> child(startChild());
                case CHILD_BESIDE -> childBeside();
                case SIGNAL -> saw("go", ctx.awaitEvent(call.named("go"), String.class, LONG));
                case TIMEOUT -> timedOut();
                case TRANSACTION -> transaction();
                case UNDO -> undo();
            };
        }

        private String saw(String name, String value) {
            return history.saw(ctx.runId(), call.named(name), value, ctx.fencingToken());
        }

        private String execute(String label, StepContext step) throws InterruptedException {
            var result = history.executed(ctx.runId(), label, step.fencingToken());
            around.work();
            return result;
        }

        private String step(String name, StepOptions options, int failures) {
            var label = call.named(name);
            return saw(name, ctx.step(label, String.class, options, step -> {
                var result = execute(label, step);
                if (step.attempt() <= failures) {
                    throw new IllegalStateException("not yet");
                }
                return result;
            }));
        }

        private String failed() {
            var label = call.named("broken");
            try {
                return ctx.step(label, String.class, step -> {
                    execute(label, step);
                    throw new PermanentFailure("broken");
                });
            } catch (StepFailedException expected) {
                return saw("broken", "failed");
            }
        }

        private String slept() {
            var label = call.named("nap");
            history.reaches(ctx.runId(), label);
            ctx.sleep(label, call.time);
            history.waited(ctx.runId(), label, call.time);
            return "slept";
        }

        private Promise<String> async(String name) {
            var label = call.named(name);
            return ctx.async(label, String.class, step -> execute(label, step));
        }

        private String all() {
            var results = ctx.<String>all(List.of(async("left"), async("right")));
            return saw("left", results.get(0)) + "+" + saw("right", results.get(1));
        }

        private String map() {
            var label = call.named("map");
            var epoch = ctx.fencingToken();
            var results = ctx.map(label, List.of("a", "b", "c"), String.class, item -> {
                var result = history.executed(ctx.runId(), label + item, epoch);
                around.work();
                return result;
            });
            for (int i = 0; i < results.size(); i++) {
                history.saw(ctx.runId(), label + "abc".charAt(i), results.get(i), epoch);
            }
            return String.join("+", results);
        }

        private String any() {
            var first = async("one");
            var second = async("two");
            return saw("any", ctx.any(List.of(first, second)));
        }

        private Promise<String> startChild() {
            return ctx.child(
                    World.CHILD,
                    around.childOf(number, call.number),
                    ChildOptions.defaults().name(call.named("child")));
        }

        private String child(Promise<String> child) {
            try {
                return saw("child", child.get());
            } catch (StepFailedException failed) {
                return saw("child", "failed");
            }
        }

        private String childBeside() {
            var child = startChild();
            var step = step("beside", StepOptions.defaults(), 0);
            return step + "+" + child(child);
        }

        private String timedOut() {
            var label = call.named("never");
            history.reaches(ctx.runId(), label);
            try {
                return ctx.awaitEvent(label, String.class, call.time);
            } catch (AwaitTimeoutException expected) {
                history.waited(ctx.runId(), label, call.time);
                return "late";
            }
        }

        private String transaction() {
            var label = call.named("sql");
            return saw("sql", ctx.transaction(label, String.class, connection -> {
                var result = history.executed(ctx.runId(), label, ctx.fencingToken());
                count(connection, ctx.runId() + label);
                return result;
            }));
        }

        private String undo() {
            var label = call.named("undo");
            ctx.compensateWith(label, StepOptions.defaults(), step -> execute(label, step));
            return "undoable";
        }
    }

    private static void count(Connection connection, String key) throws SQLException {
        var sql = """
                INSERT INTO simulated_count (key, value)
                VALUES (?, 1)
                ON CONFLICT (key) DO UPDATE
                   SET value = value + 1
                """;
        try (var insert = connection.prepareStatement(sql)) {
            insert.setString(1, key);
            insert.executeUpdate();
        }
    }
}
