package dev.steadwork.examples.demo;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.examples.demo.AttemptLog.Entry;
import dev.steadwork.examples.demo.AttemptLog.Event;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;

/**
 * What was counted over all orders in the database.
 *
 * @param accepted orders that the log or the database knows of
 * @param completed those that the database knows as completed
 * @param executed how often the body of a step began
 * @param kept how many steps have a checkpoint
 * @param failed how often a body threw
 * @param repeated how often a body began although its step had a checkpoint: what must never happen
 */
record Tally(long accepted, long completed, long executed, long kept, long failed, long repeated) {

    /**
     * A run as the database shows it.
     *
     * @param checkpoints by step, the execution whose result is kept
     */
    record Seen(RunStatus status, Map<String, String> checkpoints) {}

    /** A step of a run. */
    private record StepOfRun(RunId run, String step) {}

    /** @param entries in the order they were noted */
    static Tally of(Collection<Entry> entries, Map<RunId, Seen> runs) {
        var accepted = new HashSet<>(runs.keySet());
        entries.forEach(entry -> accepted.add(entry.run()));
        return new Tally(
                accepted.size(),
                runs.values().stream()
                        .filter(run -> run.status() == RunStatus.COMPLETED)
                        .count(),
                count(entries, Event.STARTED),
                runs.values().stream().mapToInt(run -> run.checkpoints().size()).sum(),
                count(entries, Event.FAILED),
                countRepeated(entries, runs));
    }

    private static long count(Collection<Entry> entries, Event event) {
        return entries.stream().filter(entry -> entry.event() == event).count();
    }

    /**
     * Counts executions that began after the one whose result is kept. Its result could only be kept because nobody else
     * had taken the run meanwhile, so whoever began later did so after the checkpoint. No clock is needed to tell.
     */
    private static long countRepeated(Collection<Entry> entries, Map<RunId, Seen> runs) {
        var begun = new HashSet<StepOfRun>();
        long repeated = 0;
        for (var entry : entries) {
            var run = runs.get(entry.run());
            if (run == null || entry.event() != Event.STARTED) {
                continue;
            }
            var step = new StepOfRun(entry.run(), entry.step());
            if (begun.contains(step)) {
                repeated++;
            } else if (entry.executor().equals(run.checkpoints().get(entry.step()))) {
                begun.add(step);
            }
        }
        return repeated;
    }

    /** Orders that were accepted and did not reach their end. */
    long lost() {
        return accepted - completed;
    }

    /** How often a process died after a body began and before its step was kept. */
    long interrupted() {
        return executed - kept - failed - repeated;
    }

    boolean isClean() {
        return lost() == 0 && repeated == 0;
    }
}
