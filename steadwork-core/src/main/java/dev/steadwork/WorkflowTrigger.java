package dev.steadwork;

import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A workflow about to be triggered: noun, options, verb. Immutable and safe to share between threads.
 *
 * @param <I> the input
 * @param <O> the output
 */
public abstract class WorkflowTrigger<I, O> extends TriggerOptions<WorkflowTrigger<I, O>> {
    protected WorkflowTrigger() {}

    /**
     * Creates a run and returns when it is durable. If the idempotency key is taken, returns the existing run.
     *
     * @throws PreconditionFailed if the type is not registered, or not online where that is demanded
     * @throws Conflict if the key belongs to a run of another type
     * @throws PayloadTooLarge if the input is over the limit
     */
    public abstract RunHandle<O> trigger(@Nullable I input);

    /** Creates a run whose input is these bytes, as they are. */
    public abstract RunHandle<O> triggerBytes(byte[] input, String contentType);

    /** Creates all runs in one transaction, with these options each, or none: the error names the index of the bad one. */
    public abstract List<RunHandle<O>> triggerAll(Collection<I> inputs);

    /** Like {@link #triggerAll(Collection)}, each with its own options (they replace the ones set here). */
    public abstract List<RunHandle<O>> triggerAll(List<Trigger<I>> triggers);

    /**
     * Triggers inside your own transaction: the run exists if and only if that transaction commits. The connection must
     * be one to Steadwork's database with auto-commit switched off; you commit it.
     */
    public abstract WorkflowTrigger<I, O> in(Connection connection);
}
