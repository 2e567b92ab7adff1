package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunInfo;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.StepRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Puts together what people see of a run's steps: outcomes first, then failed attempts, then what executes now. */
final class StepHistory {
    private final Map<String, StepRecord> outcomes = new LinkedHashMap<>();
    private final Map<String, List<AttemptRecord>> attempts = new LinkedHashMap<>();
    private RunInfo.@Nullable RunningStep running;

    void add(StepRecord outcome) {
        outcomes.put(outcome.key().label(), outcome);
    }

    void add(AttemptRecord attempt) {
        attempts.computeIfAbsent(attempt.key().label(), label -> new ArrayList<>())
                .add(attempt);
    }

    void add(RunInfo.RunningStep step) {
        running = step;
    }

    List<StepInfo> steps() {
        var steps = new HashMap<String, StepInfo>();
        outcomes.forEach((label, outcome) -> steps.put(label, ended(label, outcome)));
        attempts.forEach((label, failed) -> steps.computeIfAbsent(label, unfinished -> retrying(unfinished, failed)));
        var executing = running;
        if (executing != null) {
            int latest = steps.size() + 1;
            steps.compute(executing.name(), (label, known) -> executing(executing, known, latest));
        }
        return steps.values().stream()
                .sorted(Comparator.comparingInt(StepInfo::position))
                .toList();
    }

    private StepInfo ended(String label, StepRecord step) {
        return new StepInfo(
                label,
                step.kind(),
                step.key().position(),
                step.status(),
                step.attempt(),
                step.input(),
                step.output(),
                step.error(),
                step.startedAt(),
                step.wakeAt() == null ? step.finishedAt() : step.wakeAt(),
                failedAttempts(label),
                step.childRun());
    }

    private StepInfo retrying(String label, List<AttemptRecord> failed) {
        var last = failed.get(failed.size() - 1);
        return new StepInfo(
                label,
                last.kind(),
                last.key().position(),
                StepStatus.RETRYING,
                last.attempt(),
                Payload.NONE,
                Payload.NONE,
                last.error(),
                last.startedAt(),
                null,
                failedAttempts(label),
                null);
    }

    /** A step that executes for the first time has no row yet: it is the latest call. */
    private StepInfo executing(RunInfo.RunningStep step, @Nullable StepInfo known, int latest) {
        if (known != null && known.status() != StepStatus.RETRYING && known.status() != StepStatus.WAITING) {
            return known;
        }
        return new StepInfo(
                step.name(),
                known == null ? StepKind.FUNCTION : known.kind(),
                known == null ? latest : known.position(),
                StepStatus.RUNNING,
                known == null ? 1 : known.attempt() + 1,
                Payload.NONE,
                Payload.NONE,
                known == null ? null : known.error(),
                step.since(),
                null,
                failedAttempts(step.name()),
                known == null ? null : known.childRun());
    }

    private List<StepInfo.FailedAttempt> failedAttempts(String label) {
        return attempts.getOrDefault(label, List.of()).stream()
                .map(failed -> new StepInfo.FailedAttempt(
                        failed.attempt(), failed.error(), failed.startedAt(), failed.finishedAt()))
                .toList();
    }
}
