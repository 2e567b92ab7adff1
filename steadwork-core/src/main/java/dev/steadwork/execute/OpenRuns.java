package dev.steadwork.execute;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runs of a claim that is still open. Their handlers have begun, which nobody can see: code outside of steps is executed again
 * whenever a worker is lost. A run that simply completes is ended together with its claim. One that comes to a durable call, or
 * ends in another way, first waits until it is held.
 */
public final class OpenRuns {
    private static final Logger log = LoggerFactory.getLogger(OpenRuns.class);

    private final List<Execution> executions = new ArrayList<>();
    private final List<End> ends = new ArrayList<>();
    /** Those that neither have completed nor wait. */
    private final CountDownLatch busy;

    private final CompletableFuture<Set<RunId>> held = new CompletableFuture<>();
    private boolean closed;

    private record End(Execution execution, Write.Finish finish, Ending ending) {}

    public OpenRuns(int count) {
        this.busy = new CountDownLatch(count);
    }

    void add(Execution execution) {
        executions.add(execution);
    }

    /** Whether a run that ends so may be ended together with its claim. */
    static boolean isPlain(Write.@Nullable Fenced outcome) {
        return outcome instanceof Write.Finish end && end.status() == RunStatus.COMPLETED && end.parent() == null;
    }

    /** Whether the end goes with the claim, and will be told; otherwise it is written like any other. */
    boolean end(Execution execution, Write.@Nullable Fenced outcome) {
        if (!(outcome instanceof Write.Finish finish) || !isPlain(finish)) {
            return false;
        }
        synchronized (this) {
            if (closed) {
                return false;
            }
            ends.add(new End(execution, finish, execution.lastWrite()));
        }
        busy.countDown();
        return true;
    }

    /** Waits until the claim is kept or lost; whether the run is held. */
    boolean await(RunId run) {
        busy.countDown();
        return held.join().contains(run);
    }

    boolean isHeld(RunId run) {
        return held.getNow(Set.of()).contains(run);
    }

    /** Waits until no run is busy, but not for longer than that, and takes no more ends. */
    public List<Write.Finish> close(Duration atMost) {
        try {
            busy.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            closed = true;
            return ends.stream().map(End::finish).toList();
        }
    }

    /**
     * The claim was kept, with the ends that it had when it was closed.
     *
     * @param runs those that were ended or are held; the others may have been taken by somebody else
     */
    public void kept(Set<RunId> runs) {
        for (var execution : executions) {
            if (!runs.contains(execution.id())) {
                execution.stop(Execution.Stop.LEASE_LOST);
            }
        }
        held.complete(runs);
        for (var end : ends) {
            try (end.ending) {
                end.execution.ended(end.ending, runs.contains(end.finish.run()) ? end.finish : null);
            } catch (RuntimeException | Error failure) {
                log.error("Run {}: its end could not be told.", end.finish.run(), failure);
            }
        }
    }
}
