package dev.steadwork.store;

import dev.steadwork.RunId;
import java.util.List;
import java.util.Set;

/**
 * Runs that are locked for a worker by a transaction that is still open: nobody else can take them, and nobody sees it. If the
 * worker dies, they are free at once.
 */
public interface OpenClaim extends AutoCloseable {

    /** The runs, each with the epoch under which the worker will hold it. No other write may carry that epoch before. */
    Claimed claimed();

    /**
     * Ends some of the runs, leases the others to the worker and commits. If it fails the runs are free, and it may be tried again:
     * that applies to those which nobody else has taken meanwhile.
     *
     * @param ends of runs of this claim that have completed; they have no parent and leave no children
     * @return the runs that were ended or leased: at the first time all of them
     */
    Set<RunId> keep(List<Write.Finish> ends);

    /** Leaves the runs to others, unless they were kept. */
    @Override
    void close();
}
