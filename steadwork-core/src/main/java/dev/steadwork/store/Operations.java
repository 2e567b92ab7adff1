package dev.steadwork.store;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What people ask of runs. */
public interface Operations {
    void cancel(RunId run);

    void terminate(RunId run, String reason);

    void pause(RunId run);

    void resume(RunId run);

    void retry(RunId run);

    void delete(RunId run, String reason);

    /**
     * Puts a signal into the run's inbox and wakes the run if it waits for one of that name.
     *
     * @throws dev.steadwork.InvalidState if the run has ended or is deleted
     */
    void signal(RunId run, String name, Payload payload);

    /** Cancels those of the runs that can be, in one transaction, and returns how many were cancelled or asked to end. */
    int cancelAll(List<RunId> runs);

    /** Retries those of the runs that can be, in one transaction, and returns how many that were. */
    int retryAll(List<RunId> runs);

    /** Deletes those of the runs that are not deleted yet, in one transaction, and returns how many that were. */
    int deleteAll(List<RunId> runs, String reason);

    /**
     * Creates a run beside another one, of the same kind and with the outcomes of its steps before the named one, so that it
     * goes on from there.
     *
     * @param step the step's name as people see it, such as {@code charge#2}
     * @param input the new run's input, or null for that of the other one
     * @return the new run
     */
    RunId fork(RunId run, String step, @Nullable Payload input);
}
