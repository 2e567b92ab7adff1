package dev.steadwork.examples.demo;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.examples.demo.AttemptLog.Entry;
import dev.steadwork.examples.demo.AttemptLog.Event;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was counted over all orders in the database.
 *
 * @param accepted orders that the log or the database knows of
 * @param completed those that the database knows as completed
 * @param executed how often the body of a step began
 * @param kept how many steps have a checkpoint
 * @param failed how often a body threw
 * @param repeated how often a body began after its step's checkpoint: what must never happen
 */
record Tally(long accepted, long completed, long executed, long kept, long failed, long repeated) {

    /**
     * A run as the database shows it.
     *
     * @param checkpoints when each finished step was kept
     */
    record Seen(RunStatus status, Map<String, Instant> checkpoints) {}

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
                entries.stream()
                        .filter(entry -> beganAfterCheckpoint(entry, runs.get(entry.run())))
                        .count());
    }

    private static long count(Collection<Entry> entries, Event event) {
        return entries.stream().filter(entry -> entry.event() == event).count();
    }

    private static boolean beganAfterCheckpoint(Entry entry, @Nullable Seen run) {
        if (run == null || entry.event() != Event.STARTED) {
            return false;
        }
        var checkpoint = run.checkpoints().get(entry.step());
        return checkpoint != null && entry.at().isAfter(checkpoint);
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
