package dev.steadwork.testing;

import dev.steadwork.TriggerCheck;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.WorkflowHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * A workflow whose input says what it does, so that a worker in another process can do it: {@code step NAME}, {@code work
 * NAME MILLIS} (a step that takes a while), {@code hold NAME} (a step that lasts until it is let go), {@code debit NAME} (a
 * transactional step that takes 1 from the account and lasts until it is let go), {@code sleep NAME MILLIS}. Its output is the fencing token of each step. It reports {@code started}, {@code kept} and {@code left} with
 * the run's id.
 */
public final class Script implements WorkflowHandler<List<String>, List<Long>> {
    public static final Workflow<List<String>, List<Long>> SCRIPT = Workflow.define(
                    "script", new TypeRef<List<String>>() {}, new TypeRef<List<Long>>() {})
            .check(TriggerCheck.ACCEPT);

    /** The same under another name, for workers that tell types apart. */
    public static final Workflow<List<String>, List<Long>> OTHER = Workflow.define(
                    "other.script", new TypeRef<List<String>>() {}, new TypeRef<List<Long>>() {})
            .check(TriggerCheck.ACCEPT);

    private final Consumer<String> report;
    private final CountDownLatch go = new CountDownLatch(1);

    public Script(Consumer<String> report) {
        this.report = report;
    }

    /** Lets steps end that are held, now and from now on. */
    public void go() {
        go.countDown();
    }

    @Override
    public List<Long> run(WorkflowContext ctx, List<String> acts) {
        var tokens = new ArrayList<Long>();
        try {
            for (var act : acts) {
                var words = act.split(" ");
                switch (words[0]) {
                    case "step" -> tokens.add(step(ctx, words[1], () -> {}));
                    case "work" -> tokens.add(step(ctx, words[1], () -> Thread.sleep(Long.parseLong(words[2]))));
                    case "hold" -> tokens.add(step(ctx, words[1], go::await));
                    case "debit" -> tokens.add(debit(ctx, words[1]));
                    case "sleep" -> ctx.sleep(words[1], Duration.ofMillis(Long.parseLong(words[2])));
                    default -> throw new IllegalArgumentException(act);
                }
            }
            return tokens;
        } finally {
            report.accept("left " + ctx.runId());
        }
    }

    private long step(WorkflowContext ctx, String name, Body body) {
        var token = ctx.step(name, Long.class, step -> {
            report.accept("started " + name + " " + ctx.runId());
            body.run();
            return step.fencingToken();
        });
        report.accept("kept " + name + " " + ctx.runId());
        return token;
    }

    private long debit(WorkflowContext ctx, String name) {
        return ctx.transaction(name, Long.class, sql -> {
            try (var update = sql.prepareStatement("UPDATE account SET balance = balance - 1")) {
                update.executeUpdate();
            }
            report.accept("started " + name + " " + ctx.runId());
            go.await();
            return ctx.fencingToken();
        });
    }

    @FunctionalInterface
    private interface Body {
        void run() throws InterruptedException;
    }
}
