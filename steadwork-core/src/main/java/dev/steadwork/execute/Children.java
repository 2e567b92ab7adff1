package dev.steadwork.execute;

import dev.steadwork.ChildOptions;
import dev.steadwork.ChildPolicy;
import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.RunInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.store.Ack;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Starts the children of a run. A child and the step that started it are one write, so it is started once. Many that are
 * started one after the other share transactions: they are durable when the handler makes another durable call.
 */
final class Children {
    /** A run with so many ancestors starts no children: it is most likely part of a circle of workflows. */
    static final int MAX_DEPTH = 100;

    private final Execution execution;
    private final ClaimedRun run;
    private final RunExecutor executor;
    private final StepRunner steps;
    private final Deque<Starting> starting = new ArrayDeque<>();

    Children(Execution execution, ClaimedRun run, RunExecutor executor, StepRunner steps) {
        this.execution = execution;
        this.run = run;
        this.executor = executor;
        this.steps = steps;
    }

    private record Starting(Branch<?> branch, Write.SaveStep write, CompletableFuture<Ack> ack) {}

    <I, O> void start(Branch<O> branch, Workflow<I, O> workflow, I input, ChildOptions options, Instant now) {
        checkDepth(workflow);
        var key = branch.key();
        var child = newRun(key, workflow, input, options);
        var step = new StepRecord(
                key,
                StepKind.CHILD,
                options.isDetached() ? StepStatus.COMPLETED : StepStatus.WAITING,
                1,
                Payload.NONE,
                Payload.NONE,
                null,
                now,
                options.isDetached() ? now : null,
                null,
                child.id());
        var write = new Write.SaveStep(run.id(), run.epoch(), step, child, null);
        execution.hasChildren();
        starting.add(new Starting(branch, write, executor.recorder().submit(write)));
    }

    private void checkDepth(Workflow<?, ?> workflow) {
        if (run.depth() >= MAX_DEPTH) {
            throw new InvalidArgument(
                    "Run %s of workflow %s has %d ancestors and may not start %s as a child: workflows seem to start each other in a circle. Let one of them end the circle, or write it as a loop in one handler."
                            .formatted(run.id(), run.type(), run.depth(), workflow.name()));
        }
    }

    private <I, O> NewRun newRun(StepRecord.Key key, Workflow<I, O> workflow, I input, ChildOptions options) {
        var defaults = workflow.options();
        var what = "Input of child %s of run %s".formatted(key.label(), run.id());
        var timeout = options.deadline() == null ? defaults.timeout() : options.deadline();
        var delay = options.delay();
        return new NewRun(
                RunIds.beside(run.id()),
                executor.namespace(),
                workflow.name(),
                options.queue() == null ? defaults.queue() : options.queue(),
                options.concurrencyKey(),
                executor.payloads().encode(what, input),
                options.priority(),
                new NewRun.Moment(null, delay),
                new NewRun.Moment(null, timeout == null || delay == null ? timeout : timeout.plus(delay)),
                options.retry() == null ? defaults.chosenRetry() : options.retry(),
                options.version(),
                null,
                null,
                null,
                TriggerCheck.REQUIRE_REGISTERED,
                options.tags(),
                new RunInfo.Parent(run.id(), key.label()),
                run.depth() + 1,
                options.policy() == ChildPolicy.CANCEL);
    }

    /** Waits until all that were started are durable; throws the first refusal if some were refused. */
    void confirm() {
        @Nullable RuntimeException refusal = null;
        for (var next = starting.poll(); next != null; next = starting.poll()) {
            try {
                steps.heed(executor.recorder().confirm(next.write, next.ack, execution::isLost));
            } catch (RuntimeException refused) {
                next.branch.refuse(refused);
                refusal = refusal == null ? refused : refusal;
            }
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    /** How the run leaves its handler to wait for this child. */
    Suspension waiting(StepRecord.Key key) {
        return waiting(Write.Awaits.child(key.label()));
    }

    Suspension waiting(String message) {
        return new Suspension(new Write.Park(
                run.id(),
                run.epoch(),
                Write.Wake.NEVER,
                null,
                null,
                run.attempt(),
                null,
                new Write.Awaits(message, run.inbox())));
    }
}
