package dev.steadwork.testing;

import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** A behaviour that shows when workers die or freeze: they play {@link Script}s in processes of their own. */
public abstract class FaultTest extends EngineTest {
    private final Deque<WorkerProcess> processes = new ArrayDeque<>();

    @AfterEach
    void killProcesses() {
        processes.forEach(WorkerProcess::close);
    }

    protected WorkerProcess startProcess(Duration lease) {
        var process = WorkerProcess.start(url, lease);
        processes.push(process);
        return process;
    }

    /** Between its writes: whoever is frozen inside a transaction keeps its locks, and SQLite has only one. */
    protected void freeze(WorkerProcess process) {
        await().atMost(PATIENCE).until(() -> {
            process.freeze();
            boolean frozenInside = database.isBeingWritten(url);
            if (frozenInside) {
                process.thaw();
            }
            return !frozenInside;
        });
    }

    protected RunHandle<List<Long>> play(String... acts) {
        return steadwork.workflow(Script.SCRIPT).trigger(List.of(acts));
    }

    protected static void awaitStatus(RunHandle<?> run, RunStatus status) {
        await().atMost(PATIENCE).until(() -> run.status() == status);
    }

    /** Waits until the time has passed at which the run is due next: its lease or its sleep is over. */
    protected static void awaitDue(RunHandle<?> run) {
        await().atMost(PATIENCE).until(() -> !run.info().times().due().isAfter(Instant.now()));
    }
}
