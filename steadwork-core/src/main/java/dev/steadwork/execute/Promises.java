package dev.steadwork.execute;

import dev.steadwork.Check;
import dev.steadwork.InvalidArgument;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RunId;
import dev.steadwork.store.Write;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

/** Waits for what goes on beside a handler, in its thread or, if it takes longer, out of it. */
final class Promises {
    private final RunId run;
    private final Gate gate;
    private final Branches branches;
    private final Children children;

    Promises(RunId run, Gate gate, Branches branches, Children children) {
        this.run = run;
        this.gate = gate;
        this.branches = branches;
        this.children = children;
    }

    /** What was promised by calls of this handler. */
    @SuppressWarnings("unchecked")
    List<Branch<Object>> asked(String call, List<? extends Promise<?>> promises) {
        gate.check(call);
        var asked = new ArrayList<Branch<Object>>();
        for (var promise : Check.noNulls("promises", promises)) {
            if (!(promise instanceof Branch<?> branch) || !branches.has(branch)) {
                throw new InvalidArgument(
                        "Run %s: %s got a promise of another run. A promise belongs to the handler that made it; pass its value instead."
                                .formatted(run, call));
            }
            asked.add((Branch<Object>) branch);
        }
        asked.forEach(Branch::markAwaited);
        gate.pass();
        return asked;
    }

    <T> Kept<T> await(Branch<T> branch) {
        gate.check("get() of promise '%s'".formatted(branch.key().label()));
        branch.markAwaited();
        gate.pass();
        awaitAll(List.of(branch));
        return outcomeOf(branch);
    }

    /** Waits until all have ended. */
    void awaitAll(List<? extends Branch<?>> asked) {
        confirmChildren();
        waitFor(asked);
        // The last one first: most likely the others have ended when it has, and the run is woken once.
        for (int i = asked.size() - 1; i >= 0; i--) {
            var leave = asked.get(i).suspension();
            if (leave != null) {
                throw leaving(leave);
            }
        }
    }

    /** The index of the first that completes; if all fail, of the first one. */
    int awaitFirst(List<? extends Branch<?>> asked) {
        confirmChildren();
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
        var waiting =
                asked.stream().filter(branch -> branch.suspension() != null).toList();
        if (waiting.size() == 1) {
            throw leaving(Objects.requireNonNull(waiting.get(0).suspension()));
        }
        if (waiting.stream().anyMatch(Branch::isChild)) {
            throw leaving(children.waiting(Write.Awaits.ANY));
        }
        if (!waiting.isEmpty()) {
            throw leaving(Objects.requireNonNull(waiting.get(0).suspension()));
        }
        return 0;
    }

    /** A run that is ending waits for nothing: it leaves its handler to execute its undo steps. */
    private Suspension leaving(Suspension leave) {
        gate.passNew();
        return gate.leaving(leave);
    }

    /** Children are durable before anything else is done. */
    void confirmChildren() {
        try {
            children.confirm();
        } catch (Suspension leave) {
            throw gate.leaving(leave);
        }
    }

    <T> Kept<T> outcomeOf(Branch<T> branch) {
        try {
            return branch.outcome().join();
        } catch (CompletionException ended) {
            throw ended.getCause() instanceof RuntimeException known ? known : ended;
        }
    }

    private void waitFor(Collection<? extends Branch<?>> asked) {
        try {
            Branches.await(asked);
        } catch (InterruptedException interrupted) {
            throw interrupted();
        }
    }

    /** An interrupt that is not ours stays with the handler. */
    private RuntimeException interrupted() {
        gate.pass();
        Thread.currentThread().interrupt();
        return new CancellationException("Run %s was interrupted while it waited for a promise.".formatted(run));
    }

    /** The handler has returned: refuses promises that nobody waited for. */
    void checkAllAwaited() {
        gate.rethrow();
        confirmChildren();
        var forgotten = branches.neverAwaited();
        if (forgotten != null) {
            throw new PermanentFailure(
                    "Promise '%s' was never awaited. Call get() on it, or pass it to ctx.all(...) or ctx.any(...); start a child that is not waited for with ChildOptions.defaults().detached()."
                            .formatted(forgotten.key().label()));
        }
    }

    /**
     * The handler has failed. Leaves if it was stopped, which may be why; its own failure counts before a pause. What goes on
     * beside it ends first.
     */
    void settle() {
        gate.passUnlessStopped();
        confirmChildren();
        waitFor(branches.all());
        gate.passUnlessStopped();
    }
}
