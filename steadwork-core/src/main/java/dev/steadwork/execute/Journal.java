package dev.steadwork.execute;

import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.RunId;
import dev.steadwork.StepKind;
import dev.steadwork.store.StepRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The recorded steps of a run, and where its handler is among them. Belongs to the handler's thread. */
final class Journal {
    private final RunId run;
    private final Map<Integer, StepRecord> byPosition = new HashMap<>();
    private final Map<String, Integer> uses = new HashMap<>();
    private final Map<String, Integer> versions = new HashMap<>();
    private @Nullable StepRecord decision;
    private int position;

    Journal(RunId run, List<StepRecord> recorded) {
        this.run = run;
        for (var step : recorded) {
            if (step.kind() == StepKind.UNDO && step.key().occurrence() == StepRecord.Key.DECISION) {
                decision = step;
            } else {
                byPosition.put(step.key().position(), step);
            }
        }
    }

    /** How it was decided that the run ends, once its undo steps are executed; null if it was not. */
    @Nullable
    StepRecord decision() {
        return decision;
    }

    /** The position of the last durable call. */
    int position() {
        return position;
    }

    /** Takes the next position for a durable call of this name and kind. */
    StepRecord.Key next(String name, StepKind kind) {
        position++;
        var recorded = byPosition.get(position);
        if (recorded != null && !(recorded.key().name().equals(name) && recorded.kind() == kind)) {
            throw new NonDeterministicWorkflow(
                    ("Run %s: durable call %d was %s '%s' when it was recorded and is %s '%s' now. The handler's code changed, or its path "
                                    + "depends on something outside steps (time, random numbers, shared state). Restore the old "
                                    + "path for this run and retry it.")
                            .formatted(
                                    run,
                                    position,
                                    recorded.kind(),
                                    recorded.key().name(),
                                    kind,
                                    name));
        }
        int occurrence = uses.merge(name, 1, Integer::sum);
        return new StepRecord.Key(name, occurrence, position);
    }

    /** What was recorded of this call, if anything. */
    @Nullable
    StepRecord recorded(StepRecord.Key key) {
        return byPosition.get(key.position());
    }

    /** The recorded end of this call; null if there is none yet. */
    @Nullable
    StepRecord outcome(StepRecord.Key key) {
        var recorded = recorded(key);
        return recorded != null && recorded.status().isFinal() ? recorded : null;
    }

    /** The number of the next attempt of a step that has not ended. */
    int nextAttempt(StepRecord.Key key) {
        var recorded = recorded(key);
        return recorded == null ? 1 : recorded.attempt() + 1;
    }

    /** The version that was chosen for this change before in the run, if it was. */
    @Nullable
    Integer versionOf(String changeId) {
        return versions.get(changeId);
    }

    int rememberVersion(String changeId, int version) {
        versions.put(changeId, version);
        return version;
    }

    /** Whether the run went on from here when the change did not exist yet: its next recorded call is another one. */
    boolean passedBefore(String changeId) {
        var next = byPosition.get(position + 1);
        if (next != null && next.kind() == StepKind.VERSION && next.key().name().equals(changeId)) {
            return false;
        }
        // Not only the next one: a step beside the handler may be open while later ones are recorded.
        return byPosition.keySet().stream().anyMatch(recorded -> recorded > position);
    }

    NonDeterministicWorkflow unsupportedVersion(String changeId, @Nullable Integer version, int min, int max) {
        return new NonDeterministicWorkflow(
                "Run %s: change '%s' was recorded with version %s, the code supports %d to %d. Deploy code that still has that version, then retry the run."
                        .formatted(run, changeId, version, min, max));
    }
}
