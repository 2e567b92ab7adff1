package dev.steadwork.execute;

import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.WorkerBuilder.Handling;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Committer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Observers;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Executes claimed runs: what all executions of a worker share. */
public final class RunExecutor {
    private final Map<String, Handling<?, ?>> handlers;
    private final Payloads payloads;
    private final Store store;
    private final Recorder recorder;
    private final DeadLetterRuns deadLetters;
    private final int crashBudget;
    private final Consumer<Execution> onReturned;
    private final Consumer<Execution> onLeft;
    private final BiConsumer<Execution, Write.@Nullable Fenced> onSettled;
    private final Function<RunId, Ending> endings;
    private final Observers observers;
    private final ExecutorService threads = Threads.perTask();
    private volatile boolean draining;
    private volatile boolean closed;

    public RunExecutor(
            Map<String, Handling<?, ?>> handlers,
            Payloads payloads,
            Store store,
            Committer committer,
            Availability availability,
            DeadLetterRuns deadLetters,
            int crashBudget,
            Consumer<Execution> onReturned,
            Consumer<Execution> onLeft,
            BiConsumer<Execution, Write.@Nullable Fenced> onSettled,
            Function<RunId, Ending> endings,
            Observers observers) {
        this.observers = observers;
        this.handlers = handlers;
        this.payloads = payloads;
        this.store = store;
        this.recorder = new Recorder(committer, availability);
        this.deadLetters = deadLetters;
        this.crashBudget = crashBudget;
        this.onReturned = onReturned;
        this.onLeft = onLeft;
        this.onSettled = onSettled;
        this.endings = endings;
    }

    /**
     * Prepares a run that was claimed when the database's clock showed this.
     *
     * @param open the runs of its claim, if that has yet to be kept
     */
    public Execution prepare(ClaimedRun run, DatabaseClock clock, @Nullable OpenRuns open) {
        var execution = new Execution(run, clock, handlers.get(run.type()), this, open);
        if (open != null) {
            open.add(execution);
        }
        return execution;
    }

    public void start(Execution execution) {
        try {
            threads.execute(execution);
        } catch (RuntimeException | Error noThread) {
            onSettled.accept(execution, null); // nothing is recorded: it goes on when its lease has expired
            onLeft.accept(execution);
            throw noThread;
        }
    }

    /** Makes a call for these runs until the store answers; the last value if the worker is closed before. */
    public <T> T insist(RunId first, String what, Supplier<T> call, T ifClosed) {
        return closed ? ifClosed : recorder.insist(first, () -> what, call::get, this::isClosed, ifClosed);
    }

    /** Ends an execution without waiting for its handler. */
    public void abandon(Execution execution) {
        threads.execute(execution::abandon);
    }

    /** From now on runs leave their handlers at the next durable call, for other workers to go on. */
    public void drain() {
        draining = true;
    }

    /** Interrupts what is left; nothing more is recorded. */
    public void close() {
        closed = true;
        threads.shutdownNow();
    }

    boolean isDraining() {
        return draining;
    }

    boolean isClosed() {
        return closed;
    }

    Payloads payloads() {
        return payloads;
    }

    String namespace() {
        return deadLetters.namespace();
    }

    Store store() {
        return store;
    }

    Recorder recorder() {
        return recorder;
    }

    ExecutorService threads() {
        return threads;
    }

    Observers observers() {
        return observers;
    }

    int crashBudget() {
        return crashBudget;
    }

    @Nullable
    NewRun deadLetter(@Nullable String type, ClaimedRun failed, RunError error) {
        return type == null ? null : deadLetters.of(type, failed.id(), failed.type(), failed.input(), error);
    }

    /** Its handler has returned; what became of the run is yet to be written. */
    void returned(Execution execution) {
        onReturned.accept(execution);
    }

    /** It needs its slot no longer. */
    void left(Execution execution) {
        onLeft.accept(execution);
    }

    void settled(Execution execution, Write.@Nullable Fenced outcome) {
        onSettled.accept(execution, outcome);
    }

    /** Tells an end to those who wait for the run in this process now. */
    Ending ending(RunId run) {
        return endings.apply(run);
    }
}
