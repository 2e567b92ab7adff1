package dev.steadwork.examples.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.examples.demo.AttemptLog.Entry;
import dev.steadwork.examples.demo.AttemptLog.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is known of all orders in the database, seen from there and from the log of attempts. */
final class Board {
    private final Steadwork steadwork;
    private final AttemptLog log;
    private final List<Entry> entries = new ArrayList<>();
    private final Map<RunId, Map<String, Entry>> lastEntries = new HashMap<>();
    private final Map<RunId, RunInfo> runs = new LinkedHashMap<>();
    private final Map<RunId, Map<String, StepInfo>> steps = new HashMap<>();

    /** How far one step of one order is. */
    enum Phase {
        WAITING,
        RUNNING,
        RETRYING,
        SLEEPING,
        INTERRUPTED,
        KEPT
    }

    /**
     * One step of one order.
     *
     * @param attempt the number of the last attempt, 0 if there was none
     * @param left how long it still sleeps, if it does
     */
    record Cell(
            String step, Phase phase, int attempt, @Nullable Duration left) {}

    /** One order. */
    record Row(RunId run, String order, RunStatus status, List<Cell> cells) {
        long kept() {
            return cells.stream().filter(cell -> cell.phase() == Phase.KEPT).count();
        }

        boolean has(Phase phase) {
            return cells.stream().anyMatch(cell -> cell.phase() == phase);
        }
    }

    Board(Steadwork steadwork, AttemptLog log) {
        this.steadwork = steadwork;
        this.log = log;
    }

    /** Brings itself up to date. */
    void look() {
        for (var entry : log.readNew()) {
            entries.add(entry);
            lastEntries.computeIfAbsent(entry.run(), run -> new HashMap<>()).put(entry.step(), entry);
        }
        for (var page = steadwork.runs().type(Orders.FULFIL.name()).page(1000); ; page = page.next()) {
            page.items().forEach(this::lookAt);
            if (!page.hasNext()) {
                return;
            }
        }
    }

    private void lookAt(RunInfo run) {
        var known = runs.put(run.id(), run);
        if (known == null || !known.status().isTerminal()) {
            var found = new HashMap<String, StepInfo>();
            steadwork.run(run.id()).steps().forEach(step -> found.put(step.name(), step));
            steps.put(run.id(), found);
        }
    }

    /** Whether this process has noted anything. */
    boolean hasEntryOf(long pid) {
        return entries.stream().anyMatch(entry -> entry.pid() == pid);
    }

    /** How many orders there are in all. */
    int size() {
        return runs.size();
    }

    /** A number that changes whenever something happens. */
    long news() {
        return entries.size() + steps.values().stream().mapToLong(Map::size).sum();
    }

    /** The runs that have not ended. */
    List<RunId> unfinished() {
        return runs.values().stream()
                .filter(run -> !run.status().isTerminal())
                .map(RunInfo::id)
                .toList();
    }

    /** Whether this process has been executing a step of this name for at least this long. */
    boolean isExecuting(String step, long pid, Duration atLeast) {
        var begun = Instant.now().minus(atLeast);
        return lastEntries.values().stream()
                .map(byStep -> byStep.get(step))
                .anyMatch(last -> last != null
                        && last.event() == Event.STARTED
                        && last.pid() == pid
                        && last.at().isBefore(begun));
    }

    /** All that was noted so far. */
    List<Entry> entries() {
        return List.copyOf(entries);
    }

    /** The count of everything so far. */
    Tally tally() {
        var seen = new HashMap<RunId, Tally.Seen>();
        runs.forEach((id, run) -> seen.put(id, new Tally.Seen(run.status(), checkpoints(id))));
        return Tally.of(entries, seen);
    }

    /** By step, the execution whose result is kept. */
    private Map<String, String> checkpoints(RunId run) {
        var executors = new HashMap<String, String>();
        for (var step : steps(run).values()) {
            if (step.kind() == StepKind.FUNCTION && step.status() == StepStatus.COMPLETED) {
                executors.put(step.name(), new String(step.output().bytes(), UTF_8).replace("\"", ""));
            }
        }
        return executors;
    }

    private Map<String, StepInfo> steps(RunId run) {
        return steps.getOrDefault(run, Map.of());
    }

    /** The orders of these runs, in the order they were placed. */
    List<Row> rows(Collection<RunId> wanted, Set<Long> livePids) {
        var now = Instant.now();
        return wanted.stream()
                .sorted()
                .map(runs::get)
                .filter(run -> run != null)
                .map(run -> row(run, livePids, now))
                .toList();
    }

    private Row row(RunInfo run, Set<Long> livePids, Instant now) {
        var cells = Orders.STEPS.stream()
                .map(step -> cell(run.id(), step, livePids, now))
                .toList();
        var order = run.externalId();
        return new Row(run.id(), order == null ? run.id().toString() : order, run.status(), cells);
    }

    private Cell cell(RunId run, String step, Set<Long> livePids, Instant now) {
        var kept = steps(run).get(step);
        var last = lastEntries.getOrDefault(run, Map.of()).get(step);
        if (kept != null && kept.kind() == StepKind.SLEEP) {
            return sleepCell(kept, now);
        }
        if (kept != null && kept.status() == StepStatus.COMPLETED) {
            return new Cell(step, Phase.KEPT, kept.attempt(), null);
        }
        return last == null
                ? new Cell(step, Phase.WAITING, 0, null)
                : new Cell(step, phaseAfter(last, livePids), last.attempt(), null);
    }

    private static Cell sleepCell(StepInfo sleep, Instant now) {
        var wakesAt = sleep.finishedAt();
        return wakesAt != null && wakesAt.isAfter(now)
                ? new Cell(sleep.name(), Phase.SLEEPING, 1, Duration.between(now, wakesAt))
                : new Cell(sleep.name(), Phase.KEPT, 1, null);
    }

    private static Phase phaseAfter(Entry last, Set<Long> livePids) {
        if (last.event() == Event.FAILED) {
            return Phase.RETRYING;
        }
        return livePids.contains(last.pid()) ? Phase.RUNNING : Phase.INTERRUPTED;
    }
}
