package dev.steadwork.execute;

import dev.steadwork.Check;
import dev.steadwork.InvalidArgument;
import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.Payload;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.StepBody;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepFunction;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.TypeRef;
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
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The durable calls of one handler: recorded ones are answered from the journal, new ones are executed and kept. */
final class RunContext implements WorkflowContext {
    private static final TypeRef<Integer> INDEX = TypeRef.of(Integer.class);

    private final Execution execution;
    private final ClaimedRun run;
    private final DatabaseClock clock;
    private final RunExecutor executor;
    private final Journal journal;
    private final StepRunner steps;
    private final Branches branches;
    private final Replayable randomness;
    private final Gate gate;
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
        var outcome = journal.outcome(key);
        return valueOf(
                outcome != null
                        ? new Kept<>(outcome, decoded(outcome, type))
                        : gate.inStep(() -> steps.run(key, options, body, journal.nextAttempt(key))));
    }

    @Override
    public <T> Promise<T> async(String name, TypeRef<T> type, StepOptions options, StepBody<T> body) {
        checkStep(name, type, options, body);
        var branch = branch(name, type);
        int attempt = journal.nextAttempt(branch.key());
        if (!branch.outcome().isDone()) {
            branches.start(branch, () -> steps.runBeside(branch.key(), options, body, attempt));
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
            var branch = branch(name, type);
            int attempt = journal.nextAttempt(branch.key());
            if (!branch.outcome().isDone()) {
                open.add(() -> Branches.complete(
                        branch, () -> steps.runBeside(branch.key(), options, step -> body.run(item), attempt)));
            }
            mapped.add(branch);
        }
        branches.startBounded(open);
        return all(mapped);
    }

    /** The branch of the next call; done already if the step is recorded. */
    private <T> Branch<T> branch(String name, TypeRef<T> type) {
        var key = nextCall(name, StepKind.FUNCTION);
        var branch = new Branch<T>(key, this::await);
        var outcome = journal.outcome(key);
        if (outcome != null) {
            branch.outcome().complete(new Kept<>(outcome, decoded(outcome, type)));
        }
        branches.add(branch);
        return branch;
    }

    private <T> @Nullable T await(Branch<T> branch) {
        gate.check("get() of promise '%s'".formatted(branch.key().label()));
        branch.markAwaited();
        gate.pass();
        waitFor(List.of(branch));
        return valueOf(outcomeOf(branch));
    }

    @Override
    @SuppressWarnings("NullAway") // a step may return null
    public <T> List<T> all(List<? extends Promise<? extends T>> promises) {
        gate.check("all(...)");
        var asked = branchesOf(promises);
        asked.forEach(Branch::markAwaited);
        gate.pass();
        waitFor(asked);
        var results = new ArrayList<T>();
        for (var branch : asked) {
            results.add((T) valueOf(outcomeOf(branch)));
        }
        return results;
    }

    @Override
    @SuppressWarnings("NullAway") // a step may return null
    public <T> T any(List<? extends Promise<? extends T>> promises) {
        gate.check("any(...)");
        var asked = branchesOf(promises);
        if (asked.isEmpty()) {
            throw new InvalidArgument("any(...) needs at least one promise.");
        }
        asked.forEach(Branch::markAwaited);
        var key = nextCall("any", StepKind.ANY);
        var recorded = journal.recorded(key);
        int winner;
        if (recorded != null) {
            passed(recorded.finishedAt());
            winner = executor.payloads().decode(recorded.output(), INDEX);
        } else {
            winner = firstOf(asked);
            keep(marker(key, StepKind.ANY, winner));
        }
        waitFor(List.of(asked.get(winner)));
        return (T) valueOf(outcomeOf(asked.get(winner)));
    }

    /** The first branch that completes; if all fail, the first one. */
    private int firstOf(List<Branch<Object>> asked) {
        gate.pass();
        try {
            Branches.awaitFirstSuccess(asked);
        } catch (InterruptedException interrupted) {
            throw interrupted();
        }
        for (int i = 0; i < asked.size(); i++) {
            if (Branches.isSuccess(asked.get(i))) {
                return i;
            }
        }
        asked.forEach(this::outcomeOf); // leaves the handler if one of them waits for its next attempt
        return 0;
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
        if (recorded != null) {
            var wakeAt = recorded.wakeAt();
            if (wakeAt != null && clock.now().isBefore(wakeAt)) {
                throw gate.leaving(park(Write.Wake.at(wakeAt), null));
            }
            passed(wakeAt);
        } else if (over) {
            keep(sleepRecord(key, clock.now()));
        } else if (branches.areQuiet()) {
            throw gate.leaving(park(wake, sleepRecord(key, null)));
        } else {
            // A branch may have to wake the run earlier: then the timer of the sleep is not that of the run.
            var wakeAt = clock.at(wake);
            keep(sleepRecord(key, wakeAt));
            throw gate.leaving(park(Write.Wake.at(wakeAt), null));
        }
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
        return journal.passedBefore(changeId) ? journal.rememberVersion(changeId, min) : newVersion(changeId, min, max);
    }

    private int newVersion(String changeId, int min, int max) {
        var key = nextCall(changeId, StepKind.VERSION);
        var recorded = journal.recorded(key);
        if (recorded == null) {
            keep(marker(key, StepKind.VERSION, max));
            return journal.rememberVersion(changeId, max);
        }
        passed(recorded.finishedAt());
        Integer chosen = executor.payloads().decode(recorded.output(), INDEX);
        if (chosen == null || chosen < min || chosen > max) {
            throw strayed(journal.unsupportedVersion(changeId, chosen, min, max));
        }
        return journal.rememberVersion(changeId, chosen);
    }

    private StepRecord marker(StepRecord.Key key, StepKind kind, int value) {
        var time = clock.now();
        return new StepRecord(
                key,
                kind,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                executor.payloads().encode("Marker " + key.label(), value),
                null,
                time,
                time,
                null);
    }

    private void keep(StepRecord step) {
        try {
            steps.keep(step);
        } catch (Suspension leave) {
            throw gate.leaving(leave);
        }
        passed(step.finishedAt());
    }

    private static void checkStep(String name, TypeRef<?> type, StepOptions options, Object body) {
        Check.notNull("type of step " + name, type);
        Check.notNull("options of step " + name, options);
        Check.notNull("body of step " + name, body);
    }

    private <T> @Nullable T decoded(StepRecord recorded, TypeRef<T> type) {
        return recorded.status() == StepStatus.COMPLETED ? executor.payloads().decode(recorded.output(), type) : null;
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

    private void waitFor(Collection<? extends Branch<?>> asked) {
        try {
            Branches.await(asked);
        } catch (InterruptedException interrupted) {
            throw interrupted();
        }
    }

    /** What a branch ended with; leaves the handler if the run must wait for the branch's next attempt. */
    private <T> Kept<T> outcomeOf(Branch<T> branch) {
        try {
            return branch.outcome().join();
        } catch (CompletionException ended) {
            if (ended.getCause() instanceof Suspension leave) {
                throw gate.leaving(leave);
            }
            throw ended.getCause() instanceof RuntimeException known ? known : ended;
        }
    }

    /** An interrupt that is not ours stays with the handler. */
    private RuntimeException interrupted() {
        gate.pass();
        Thread.currentThread().interrupt();
        return new CancellationException("Run %s was interrupted while it waited for a promise.".formatted(run.id()));
    }

    @SuppressWarnings("unchecked")
    private List<Branch<Object>> branchesOf(List<? extends Promise<?>> promises) {
        var asked = new ArrayList<Branch<Object>>();
        for (var promise : Check.noNulls("promises", promises)) {
            if (!(promise instanceof Branch<?> branch) || !branches.has(branch)) {
                throw new InvalidArgument("A promise belongs to the handler that made it; this one is of another.");
            }
            asked.add((Branch<Object>) branch);
        }
        return asked;
    }

    /** The handler has returned: refuses promises that nobody waited for. */
    void checkAllAwaited() {
        gate.rethrow();
        var forgotten = branches.neverAwaited();
        if (forgotten != null) {
            throw new PermanentFailure(
                    "Promise '%s' was never awaited. Call get() on it, or pass it to ctx.all(...) or ctx.any(...)."
                            .formatted(forgotten.key().label()));
        }
    }

    /**
     * The handler has failed. Leaves if it was stopped, which may be why; its own failure counts before a pause. What goes on
     * beside it ends first.
     */
    void settle() {
        gate.passUnlessStopped();
        waitFor(branches.all());
        gate.passUnlessStopped();
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
