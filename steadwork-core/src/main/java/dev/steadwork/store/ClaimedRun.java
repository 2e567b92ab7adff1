package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run that a worker holds now, with all it needs to go on.
 *
 * @param epoch what every write of this worker must carry
 * @param lostLeases how many leases on it have expired
 * @param parent the run that started it, if one did
 * @param depth how many ancestors it has
 * @param inbox how many messages (signals, ends of children) it has had; the steps tell of all these ends
 * @param compensates whether it has registered undo steps
 * @param steps its recorded steps, those with failed attempts only as RETRYING
 */
public record ClaimedRun(
        RunId id,
        String type,
        String queue,
        int priority,
        long epoch,
        int attempt,
        Payload input,
        RetryPolicy retry,
        @Nullable Instant deadline,
        Instant startedAt,
        int lostLeases,
        boolean cancelRequested,
        RunInfo.@Nullable Parent parent,
        int depth,
        int inbox,
        boolean compensates,
        List<StepRecord> steps) {

    /** A run that begins with its creation. */
    public static ClaimedRun begun(
            NewRun run, String queue, RetryPolicy retry, @Nullable Instant deadline, Instant now) {
        return new ClaimedRun(
                run.id(),
                run.type(),
                queue,
                run.priority(),
                1,
                1,
                run.input(),
                retry,
                deadline,
                now,
                0,
                false,
                run.parent(),
                run.depth(),
                0,
                false,
                List.of());
    }
}
