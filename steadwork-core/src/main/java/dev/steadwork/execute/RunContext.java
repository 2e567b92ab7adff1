package dev.steadwork.execute;

import dev.steadwork.AwaitTimeoutException;
import dev.steadwork.Check;
import dev.steadwork.ChildOptions;
import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.Payload;
import dev.steadwork.Promise;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.StepBody;
import dev.steadwork.StepConsumer;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepFunction;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.TransactionBody;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The durable calls of one handler: recorded ones are answered from the journal, new ones are executed and kept. */
final class RunContext implements WorkflowContext {
    private static final TypeRef<Integer> NUMBER = TypeRef.of(Integer.class);

    private final Execution execution;
    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final RunExecutor executor;
    private final Journal journal;
    private final StepRunner steps;
    private final Branches branches;
    private final Gate gate;
    private final Children children;
    private final Promises promises;
    private final Events events;
    private final Saga saga;
    private final Replayable randomness;
    private Instant now;

    RunContext(Execution execution, ClaimedRun run, DatabaseClock clock, RunExecutor executor) {
        this.execution = execution;
        this.run = run;
        this.clock = clock;
        this.executor = executor;
        this.journal = new Journal(run.id(), run.steps());
        this.steps = new StepRunner(execution, run, clock, executor);
        this.branches = new Branches(executor.threads());
        this.gate = new Gate(execution, branches, clock);
        this.children = new Children(execution, run, executor, steps);
        this.promises = new Promises(run.id(), gate, branches, children);
        this.events = new Events(execution, run, executor, clock);
        this.saga = new Saga(execution, journal, steps, clock);
        this.randomness = new Replayable(run.id());
        this.now = run.startedAt();
    }

    @Override
    public RunId runId() {
        return run.id();
    }

    @Override
    public int attempt() {
        return run.attempt();
    }

    @Override
    public long fencingToken() {
        execution.awaitHeld();
        return run.epoch();
    }

    @Override
    public Instant now() {
        return now;
    }

    @Override
    public UUID randomUuid() {
        return randomness.uuid();
    }

    @Override
    public Random random() {
        return randomness.random();
    }

    @Override
    public boolean cancelRequested() {
        return execution.isCancelRequested();
    }

    @Override
    @SuppressWarnings("NullAway") // a step may return null, and then so does its replay
    public <T> T step(String name, TypeRef<T> type, StepOptions options, StepBody<T> body) {
        checkStep(name, type, options, body);
        var key = nextCall(name, StepKind.FUNCTION);
        var known = known(key, type);
        return valueOf(
                known != null
                        ? known
                        : gate.inStep(() -> steps.run(task(key, StepKind.FUNCTION, options, false), body)));
    }

    @Override
    @SuppressWarnings("NullAway") // a step may return null, and then so does its replay
    public <T> T transaction(String name, TypeRef<T> type, StepOptions options, TransactionBody<T> body) {
        checkStep(name, type, options, body);
        if (options.timeout() != null) {
            throw new InvalidArgument(
                    "Transactional step %s has a timeout, which could not stop its SQL. Set a query timeout on its statements instead."
                            .formatted(name));
        }
        var key = nextCall(name, StepKind.TRANSACTION);
        var known = known(key, type);
        return valueOf(
                known != null
                        ? known
                        : gate.inStep(
                                () -> steps.transact(task(key, StepKind.TRANSACTION, options, false), type, body)));
    }

    @Override
    public <T> Promise<T> async(String name, TypeRef<T> type, StepOptions options, StepBody<T> body) {
        checkStep(name, type, options, body);
        var branch = branch(name, StepKind.FUNCTION, type);
        if (!branch.outcome().isDone()) {
            var task = task(branch.key(), StepKind.FUNCTION, options, true);
            branches.start(branch, () -> steps.run(task, body));
        }
        return branch;
    }

    @Override
    public <A, T> List<T> map(
            String name, Collection<A> items, TypeRef<T> type, StepOptions options, StepFunction<A, T> body) {
        Check.notNull("items of map " + name, items);
        checkStep(name, type, options, body);
        var mapped = new ArrayList<Branch<T>>();
        var open = new ArrayList<Runnable>();
        for (var item : items) {
            var branch = branch(name, StepKind.FUNCTION, type);
            if (!branch.outcome().isDone()) {
                var task = task(branch.key(), StepKind.FUNCTION, options, true);
                open.add(() -> branch.complete(() -> steps.run(task, step -> body.run(item))));
            }
            mapped.add(branch);
        }
        branches.startBounded(mapped, open);
        return all(mapped);
    }

    /** The branch of the next call; done already if its outcome is recorded. */
    private <T> Branch<T> branch(String name, StepKind kind, TypeRef<T> type) {
        var key = nextCall(name, kind);
        var known = recorded(key, type);
        var branch = new Branch<T>(key, kind == StepKind.CHILD, asked -> valueOf(promises.await(asked)));
        if (known != null) {
            branch.outcome().complete(known);
        } else if (execution.isEnding()) {
            // Not started: the handler goes on to what it did beside it, and leaves where it would wait for it.
            branch.outcome().completeExceptionally(new Suspension(execution.ending()));
        }
        branches.add(branch);
        return branch;
    }

    @Override
    @SuppressWarnings({"NullAway", "unchecked"}) // a step may return null
    public <T> List<T> all(List<? extends Promise<? extends T>> asked) {
        var all = promises.asked("all(...)", asked);
        promises.awaitAll(all);
        var results = new ArrayList<T>();
        for (var branch : all) {
            results.add((T) valueOf(promises.outcomeOf(branch)));
        }
        return results;
    }

    @Override
    @SuppressWarnings({"NullAway", "unchecked"}) // a step may return null
    public <T> T any(List<? extends Promise<? extends T>> asked) {
        var any = promises.asked("any(...)", asked);
        if (any.isEmpty()) {
            throw new InvalidArgument("any(...) needs at least one promise.");
        }
        var key = nextCall("any", StepKind.ANY);
        var recorded = journal.recorded(key);
        int first = recorded == null ? keepNumber(key, StepKind.ANY, promises.awaitFirst(any)) : numberOf(recorded);
        return (T) valueOf(promises.await(any.get(first)));
    }

    @Override
    public <I, O> Promise<O> child(Workflow<I, O> workflow, I input, ChildOptions options) {
        Check.notNull("workflow of the child", workflow);
        Check.notNull("options of the child", options);
        var name = options.name() == null ? workflow.name() : options.name();
        var branch = branch(name, StepKind.CHILD, workflow.outputType());
        if (journal.recorded(branch.key()) == null && !branch.outcome().isDone()) {
            startChild(branch, workflow, input, options);
        }
        if (options.isDetached()) {
            return detached(branch);
        }
        if (!branch.outcome().isDone()) {
            branch.outcome().completeExceptionally(children.waiting(branch.key()));
        }
        return branch;
    }

    private <I, O> void startChild(Branch<O> branch, Workflow<I, O> workflow, I input, ChildOptions options) {
        try {
            children.start(branch, workflow, input, options, clock.now());
        } catch (RuntimeException refused) {
            branch.refuse(refused); // nobody may wait for a child that never was
            throw refused;
        }
    }

    /** Nobody waits for it, and nobody can. */
    private <O> Promise<O> detached(Branch<O> branch) {
        branch.markAwaited();
        var label = branch.key().label();
        return () -> {
            throw new InvalidState(
                    "Run %s: child '%s' is detached, so its result cannot be waited for. Start it with ChildOptions.defaults().abandon() instead."
                            .formatted(run.id(), label));
        };
    }

    @Override
    public void sleep(String name, Duration duration) {
        Check.notNegative("duration of sleep " + name, duration);
        sleep(name, Write.Wake.after(duration), duration.isZero());
    }

    @Override
    public void sleepUntil(String name, Instant time) {
        Check.time("time of sleep " + name, time);
        sleep(name, Write.Wake.at(time.truncatedTo(ChronoUnit.MICROS)), !time.isAfter(clock.now()));
    }

    private void sleep(String name, Write.Wake wake, boolean over) {
        var key = nextCall(name, StepKind.SLEEP);
        var recorded = journal.recorded(key);
        if (recorded == null) {
            gate.passNew();
            if (over) {
                keep(sleepRecord(key, clock.now()));
            } else {
                throw parked(wake, until -> sleepRecord(key, until), this::park);
            }
        } else {
            var wakeAt = recorded.wakeAt();
            if (wakeAt != null && clock.now().isBefore(wakeAt)) {
                gate.passNew();
                throw gate.leaving(park(Write.Wake.at(wakeAt), null));
            }
            passed(wakeAt);
        }
    }

    @Override
    @SuppressWarnings("NullAway") // a signal may carry null
    public <T> T awaitEvent(String name, TypeRef<T> type, Duration timeout) {
        Check.notNull("type of event " + name, type);
        Check.notNegative("timeout of event " + name, timeout);
        var key = nextCall(name, StepKind.EVENT);
        var recorded = journal.recorded(key);
        if (recorded != null && recorded.status().isFinal()) {
            return eventOf(recorded, type);
        }
        gate.passNew();
        var received = events.received(name);
        gate.pass();
        var signal = received.signal();
        if (signal != null) {
            @Nullable T value = executor.payloads().decode(signal.payload(), type);
            var save = events.taking(key, recorded, signal);
            keep(save);
            return value;
        }
        var until = recorded == null ? null : recorded.wakeAt();
        if (recorded == null ? timeout.isZero() : until != null && !clock.now().isBefore(until)) {
            var inVain = events.timedOut(key, recorded, timeout);
            keep(inVain);
            return eventOf(inVain, type);
        }
        if (until != null) {
            throw gate.leaving(events.park(name, Write.Wake.at(until), null, received));
        }
        throw parked(
                Write.Wake.after(timeout),
                time -> events.waiting(key, time),
                (wake, waiting) -> events.park(name, wake, waiting, received));
    }

    private <T> @Nullable T eventOf(StepRecord recorded, TypeRef<T> type) {
        passed(recorded.finishedAt());
        if (recorded.status() == StepStatus.FAILED) {
            throw new AwaitTimeoutException(String.valueOf(errorOf(recorded).message()));
        }
        return executor.payloads().decode(recorded.output(), type);
    }

    /** Makes a write that parks the run, with the step to keep with it or without. */
    @FunctionalInterface
    private interface Parking {
        Write.Park at(Write.Wake wake, @Nullable StepRecord step);
    }

    /** Makes the step to keep; without a time if it takes that of the run. */
    @FunctionalInterface
    private interface Waiting {
        StepRecord until(@Nullable Instant time);
    }

    private Suspension parked(Write.Wake wake, Waiting step, Parking park) {
        if (branches.haveEnded()) {
            return gate.leaving(park.at(wake, step.until(null)));
        }
        // A step beside the handler may have to wake the run earlier: then its time is not that of this one.
        var until = clock.at(wake);
        keep(step.until(until));
        return gate.leaving(park.at(Write.Wake.at(until), null));
    }

    private Write.Park park(Write.Wake wake, @Nullable StepRecord sleep) {
        return new Write.Park(run.id(), run.epoch(), wake, sleep, null, run.attempt(), null);
    }

    private StepRecord sleepRecord(StepRecord.Key key, @Nullable Instant wakeAt) {
        return new StepRecord(
                key,
                StepKind.SLEEP,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                Payload.NONE,
                null,
                clock.now(),
                wakeAt,
                wakeAt);
    }

    @Override
    public void compensateWith(String name, StepOptions options, StepConsumer undo) {
        Check.notNull("options of undo step " + name, options);
        Check.notNull("undo step " + name, undo);
        var key = nextCall(name, StepKind.UNDO);
        saga.register(key, options, undo);
        execution.compensates();
        if (journal.recorded(key) == null && !execution.isEnding()) {
            keep(new StepRecord(
                    key, StepKind.UNDO, StepStatus.WAITING, 0, Payload.NONE, Payload.NONE, null, null, null, null));
        }
    }

    /** Whether undo steps are recorded that this execution has not come to yet. */
    boolean lacksUndos() {
        return saga.lacksSomeOf(run.steps());
    }

    /** The run ends like this when its undo steps, if it must execute them, are executed. */
    Write.Finish compensated(Write.Finish end) {
        if (!saga.isNeededFor(end)) {
            return end;
        }
        endBranches();
        execution.beginEnding(end);
        return saga.compensate(end);
    }

    /** What goes on beside the handler ends before it is undone, however long that takes: only its worker's end is faster. */
    private void endBranches() {
        branches.interrupt();
        while (true) {
            Thread.interrupted(); // was meant for the handler
            try {
                branches.awaitEnd();
                return;
            } catch (InterruptedException again) {
                execution.checkNotLeaving();
            }
        }
    }

    @Override
    public int version(String changeId, int min, int max) {
        if (min > max) {
            throw new InvalidArgument("version(%s, %d, %d): min must not be over max.".formatted(changeId, min, max));
        }
        gate.check("version(\"%s\")".formatted(changeId));
        gate.pass();
        var known = journal.versionOf(Check.name("change id", changeId));
        if (known != null) {
            return known;
        }
        return journal.rememberVersion(changeId, journal.passedBefore(changeId) ? min : newVersion(changeId, min, max));
    }

    private int newVersion(String changeId, int min, int max) {
        var key = nextCall(changeId, StepKind.VERSION);
        var recorded = journal.recorded(key);
        if (recorded == null) {
            return keepNumber(key, StepKind.VERSION, max);
        }
        int chosen = numberOf(recorded);
        if (chosen < min || chosen > max) {
            throw strayed(journal.unsupportedVersion(changeId, chosen, min, max));
        }
        return chosen;
    }

    private int keepNumber(StepRecord.Key key, StepKind kind, int number) {
        gate.passNew();
        var time = clock.now();
        var output = executor.payloads().encode("Marker " + key.label(), number);
        keep(new StepRecord(key, kind, StepStatus.COMPLETED, 1, Payload.NONE, output, null, time, time, null));
        return number;
    }

    private int numberOf(StepRecord recorded) {
        passed(recorded.finishedAt());
        Integer number = executor.payloads().decode(recorded.output(), NUMBER);
        return number == null ? 0 : number;
    }

    private void keep(StepRecord step) {
        keep(new Write.SaveStep(run.id(), run.epoch(), step));
    }

    private void keep(Write.SaveStep save) {
        try {
            steps.keep(save);
        } catch (Suspension leave) {
            throw gate.leaving(leave);
        }
        passed(save.step().finishedAt());
    }

    private StepRunner.Task task(StepRecord.Key key, StepKind kind, StepOptions options, boolean isBeside) {
        return new StepRunner.Task(key, kind, options, journal.nextAttempt(key), isBeside);
    }

    private static void checkStep(String name, TypeRef<?> type, StepOptions options, Object body) {
        Check.notNull("type of step " + name, type);
        Check.notNull("options of step " + name, options);
        Check.notNull("body of step " + name, body);
    }

    /** The recorded outcome of a call. Without one the call is new, and a run that is ending leaves its handler here. */
    private <T> @Nullable Kept<T> known(StepRecord.Key key, TypeRef<T> type) {
        var known = recorded(key, type);
        if (known == null) {
            gate.passNew();
        }
        return known;
    }

    private <T> @Nullable Kept<T> recorded(StepRecord.Key key, TypeRef<T> type) {
        var outcome = journal.outcome(key);
        if (outcome == null) {
            return null;
        }
        return new Kept<>(
                outcome,
                outcome.status() == StepStatus.COMPLETED ? executor.payloads().decode(outcome.output(), type) : null);
    }

    private <T> @Nullable T valueOf(Kept<T> kept) {
        passed(kept.step().finishedAt());
        if (kept.step().status() == StepStatus.FAILED) {
            throw new StepFailedException(kept.step().key().label(), errorOf(kept.step()));
        }
        return kept.value();
    }

    private static RunError errorOf(StepRecord failed) {
        var error = failed.error();
        return error != null
                ? error
                : new RunError("unknown", null, failed.key().label(), null);
    }

    private StepRecord.Key nextCall(String name, StepKind kind) {
        Check.name("step name", name);
        gate.check("'" + name + "'");
        gate.pass();
        if (kind != StepKind.CHILD) {
            promises.confirmChildren();
        }
        try {
            return journal.next(name, kind);
        } catch (NonDeterministicWorkflow strayed) {
            throw strayed(strayed);
        }
    }

    /** Not thrown as it is: a handler that catches exceptions must not go on beside its record. */
    private Suspension strayed(NonDeterministicWorkflow failure) {
        return gate.leaving(execution.failed(Errors.of(failure, null)));
    }

    /** The handler has returned: refuses promises that nobody waited for. */
    void checkAllAwaited() {
        promises.checkAllAwaited();
    }

    /** The handler has failed: what goes on beside it ends first. */
    void settle() {
        promises.settle();
    }

    void end() {
        gate.end();
        branches.interrupt();
    }

    private void passed(@Nullable Instant time) {
        if (time != null && time.isAfter(now)) {
            now = time;
        }
    }
}
