package dev.steadwork.execute;

import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunStatus;
import dev.steadwork.StepConsumer;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The undo steps of a run, and their execution. Before the first one it is decided durably how the run ends: whoever goes on
 * after a crash replays the handler up to its last recorded call and continues with the undo steps that are left.
 */
final class Saga {
    private static final String DECISION = "compensation";

    private final Execution execution;
    private final Journal journal;
    private final StepRunner steps;
    private final DatabaseClock clock;
    private final Deque<Undo> undos = new ArrayDeque<>();

    Saga(Execution execution, Journal journal, StepRunner steps, DatabaseClock clock) {
        this.execution = execution;
        this.journal = journal;
        this.steps = steps;
        this.clock = clock;
    }

    private record Undo(StepRecord.Key key, StepOptions options, StepConsumer action) {}

    /** The last registered is the first to be undone. */
    void register(StepRecord.Key key, StepOptions options, StepConsumer action) {
        undos.push(new Undo(key, options, action));
    }

    boolean lacksSomeOf(List<StepRecord> recorded) {
        return undos.size() < recorded.stream().filter(Saga::isUndo).count();
    }

    private static boolean isUndo(StepRecord step) {
        return step.kind() == StepKind.UNDO && step.key().occurrence() != StepRecord.Key.DECISION;
    }

    boolean isNeededFor(Write.Finish end) {
        return end.status() != RunStatus.COMPLETED && !undos.isEmpty() && !hasStrayed(end.error());
    }

    /** A handler that left its recorded path cannot tell what there is to undo. */
    private static boolean hasStrayed(@Nullable RunError error) {
        return error != null && error.type().equals(NonDeterministicWorkflow.class.getName());
    }

    /** Executes what is to be undone; then the run may end. */
    Write.Finish compensate(Write.Finish end) {
        if (journal.decision() == null) {
            steps.keep(decision(end));
        }
        var failed = new ArrayList<StepRecord>();
        for (var undo : undos) {
            var outcome = outcome(undo);
            if (outcome.status() == StepStatus.FAILED) {
                failed.add(outcome);
            }
        }
        return failed.isEmpty() ? end : withFailures(end, failed);
    }

    private StepRecord outcome(Undo undo) {
        var known = journal.outcome(undo.key);
        if (known != null) {
            return known;
        }
        var task = new StepRunner.Task(undo.key, StepKind.UNDO, undo.options, journal.nextAttempt(undo.key), false);
        return steps.<@Nullable Object>run(task, step -> {
                    undo.action.run(step);
                    return null;
                })
                .step();
    }

    private StepRecord decision(Write.Finish end) {
        var now = clock.now();
        return new StepRecord(
                new StepRecord.Key(DECISION, StepRecord.Key.DECISION, journal.position() + 1),
                StepKind.UNDO,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                Payload.NONE,
                end.error(),
                now,
                now,
                null);
    }

    private Write.Finish withFailures(Write.Finish end, List<StepRecord> failed) {
        var text = failed.stream().map(Saga::describe).collect(Collectors.joining(" "));
        var error = end.error();
        var told = error == null
                ? new RunError(RunError.COMPENSATION_FAILED, text, null, null)
                : new RunError(
                        error.type(),
                        error.message() == null ? text : error.message() + " " + text,
                        error.step(),
                        error.stackTrace());
        return execution.ended(end.status(), told);
    }

    private static String describe(StepRecord undo) {
        var error = undo.error();
        return "Undo step '%s' failed (%s): what it was to undo stands; retry the run to try it again."
                .formatted(undo.key().label(), error == null ? "unknown" : error.line());
    }
}
