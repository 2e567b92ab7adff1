package dev.steadwork.chaos;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.ChildOptions;
import dev.steadwork.Promise;
import dev.steadwork.RetryPolicy;
import dev.steadwork.StepOptions;
import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.chaos.Workflows.Ask;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Does what was asked, and tells the history of everything on the way. No two executions of a step return the same value, and each
 * value carries the epoch under which it came about, so that the history tells whose result was kept.
 */
final class Handlers {
    static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int QUICK_MILLIS = 12;
    private static final int FAILING_ATTEMPTS = 2;

    private final History history;
    private final AtomicLong executions = new AtomicLong();

    Handlers(History history) {
        this.history = history;
    }

    WorkerBuilder addTo(WorkerBuilder worker) {
        handle(worker, Workflows.STEPS, this::steps);
        handle(worker, Workflows.SLOW, this::slow);
        handle(worker, Workflows.SLEEP, this::sleep);
        handle(worker, Workflows.RETRY, this::retry);
        handle(worker, Workflows.FAMILY, this::family);
        handle(worker, Workflows.CHILD, (ctx, ask) -> List.of(step(ctx, "only", QUICK_MILLIS)));
        handle(worker, Workflows.SIGNAL, this::signal);
        handle(worker, Workflows.PARALLEL, this::parallel);
        handle(worker, Workflows.TRANSACTION, this::transaction);
        handle(worker, Workflows.TICK, (ctx, ask) -> List.of(step(ctx, "only", QUICK_MILLIS)));
        return worker;
    }

    @FunctionalInterface
    private interface Story {
        List<String> run(WorkflowContext ctx, Ask ask);
    }

    private void handle(WorkerBuilder worker, Workflow<Ask, String> workflow, Story story) {
        worker.handle(workflow, (ctx, ask) -> {
            add(ctx, Kind.ENTERED, workflow.name(), "");
            try {
                var output = output(ctx, ask, story.run(ctx, ask));
                add(ctx, Kind.RETURNED, "", output);
                return output;
            } finally {
                add(ctx, Kind.LEFT, "", "");
            }
        });
    }

    private String output(WorkflowContext ctx, Ask ask, List<String> values) {
        return "%s by %s@%d: %s".formatted(ask.id(), history.process(), ctx.fencingToken(), String.join(",", values));
    }

    private List<String> steps(WorkflowContext ctx, Ask ask) {
        return List.of(step(ctx, "a", QUICK_MILLIS), step(ctx, "b", QUICK_MILLIS), step(ctx, "c", QUICK_MILLIS));
    }

    private List<String> slow(WorkflowContext ctx, Ask ask) {
        return List.of(step(ctx, "a", ask.millis()), step(ctx, "b", QUICK_MILLIS));
    }

    private List<String> sleep(WorkflowContext ctx, Ask ask) {
        var before = step(ctx, "a", QUICK_MILLIS);
        add(ctx, Kind.ASLEEP, "nap", Integer.toString(ask.millis()));
        ctx.sleep("nap", Duration.ofMillis(ask.millis()));
        add(ctx, Kind.WOKEN, "nap", "");
        return List.of(before, step(ctx, "b", QUICK_MILLIS));
    }

    private List<String> retry(WorkflowContext ctx, Ask ask) {
        var policy = RetryPolicy.forever().withInitialInterval(Duration.ofMillis(ask.millis()));
        var value = ctx.step("hard", String.class, StepOptions.defaults().retry(policy), step -> {
            if (step.attempt() <= FAILING_ATTEMPTS) {
                add(ctx, Kind.ATTEMPTED, "hard", Integer.toString(step.attempt()));
                throw new IllegalStateException("attempt " + step.attempt() + " fails on purpose");
            }
            return execute(ctx, "hard", QUICK_MILLIS);
        });
        return List.of(kept(ctx, "hard", value), step(ctx, "b", QUICK_MILLIS));
    }

    private List<String> family(WorkflowContext ctx, Ask ask) {
        var first = child(ctx, ask, "child-0");
        var values = new ArrayList<>(List.of(kept(ctx, "child-0", Objects.requireNonNull(first.get()))));
        var others = List.of(child(ctx, ask, "child-1"), child(ctx, ask, "child-2"), child(ctx, ask, "child-3"));
        var results = ctx.all(others);
        for (int i = 0; i < results.size(); i++) {
            values.add(kept(ctx, "child-" + (i + 1), results.get(i)));
        }
        return values;
    }

    private static Promise<String> child(WorkflowContext ctx, Ask ask, String name) {
        return ctx.child(
                Workflows.CHILD,
                new Ask(ask.id() + "/" + name, 0),
                ChildOptions.defaults().name(name));
    }

    private List<String> signal(WorkflowContext ctx, Ask ask) {
        add(ctx, Kind.ASLEEP, "go", Long.toString(PATIENCE.toMillis()));
        try {
            var value = kept(ctx, "go", ctx.awaitEvent("go", String.class, PATIENCE));
            return List.of(value, step(ctx, "b", QUICK_MILLIS));
        } catch (AwaitTimeoutException late) {
            add(ctx, Kind.TIMED_OUT, "go", "");
            return List.of("none");
        }
    }

    private List<String> parallel(WorkflowContext ctx, Ask ask) {
        var promises = new ArrayList<Promise<String>>();
        for (int i = 0; i < 4; i++) {
            var name = "p-" + i;
            promises.add(ctx.async(name, String.class, step -> execute(ctx, name, QUICK_MILLIS)));
        }
        var results = ctx.all(promises);
        for (int i = 0; i < results.size(); i++) {
            kept(ctx, "p-" + i, results.get(i));
        }
        return List.copyOf(results);
    }

    private List<String> transaction(WorkflowContext ctx, Ask ask) {
        var before = step(ctx, "a", QUICK_MILLIS);
        var value = ctx.transaction("debit", String.class, sql -> {
            var made = execute(ctx, "debit", 1);
            insertEffect(sql, ctx, made);
            return made;
        });
        return List.of(before, kept(ctx, "debit", value));
    }

    private static void insertEffect(Connection sql, WorkflowContext ctx, String value) throws SQLException {
        try (var insert = sql.prepareStatement("INSERT INTO chaos_effect (run_id, value) VALUES (?, ?)")) {
            insert.setString(1, ctx.runId().toString());
            insert.setString(2, value);
            insert.executeUpdate();
        }
    }

    private String step(WorkflowContext ctx, String name, int millis) {
        return kept(ctx, name, ctx.step(name, String.class, step -> execute(ctx, name, millis)));
    }

    private String execute(WorkflowContext ctx, String name, int millis) {
        var value = "%s-%d@%d".formatted(history.process(), executions.incrementAndGet(), ctx.fencingToken());
        add(ctx, Kind.EXECUTED, name, value);
        work(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(millis) + 1));
        return value;
    }

    /** Deaf to interrupts, as user code may be: a worker that lost its lease tries to keep what it has done. */
    private static void work(long nanos) {
        for (long until = System.nanoTime() + nanos, left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                return;
            }
        }
    }

    private String kept(WorkflowContext ctx, String name, String value) {
        add(ctx, Kind.KEPT, name, value);
        return value;
    }

    private void add(WorkflowContext ctx, Kind kind, String step, String value) {
        history.add(kind, ctx.runId().toString(), step, ctx.fencingToken(), value);
    }
}
