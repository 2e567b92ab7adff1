package dev.steadwork.store;

import dev.steadwork.Finding;
import dev.steadwork.InvalidState;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.Outbox;
import dev.steadwork.Payload;
import dev.steadwork.QueueLimit;
import dev.steadwork.QueueStats;
import dev.steadwork.RunEvent;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.StepInfo;
import dev.steadwork.Waiting;
import dev.steadwork.WorkerInfo;
import dev.steadwork.Workers;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The database behind one interface. Calls are batch-shaped: one call moves many runs in one transaction. Every method
 * may be called by many threads at once, throws only {@code SteadworkException}s, and leaves nothing half-done.
 *
 * <p>The database's clock decides everything that depends on time. Every write by a worker carries the lease epoch of its
 * claim and changes nothing if that epoch is no longer current.
 */
public interface Store extends Operations, AutoCloseable {

    /** Brings the schema up to date, and refuses a newer one; safe when several processes do it at once. */
    void migrate();

    /** The SQL of all migrations, for people who apply it themselves. */
    String printMigrations();

    /** Refuses a schema that is missing, older or newer than this code, saying what to do. */
    void checkSchema();

    /** Tells what happens to runs, here and in other processes. */
    Signals signals();

    /** Refuses a thread that is inside a transactional step and would wait for itself. */
    default void checkMayWrite() {}

    /** How many threads may call {@link #write} at once with profit. */
    int lanes();

    /**
     * Applies all writes in one transaction and answers in their order. Triggers refused and writes under a stale epoch
     * change nothing and are told by their answer; they do not disturb the others. A batch has at most one write per run,
     * except steps and failed attempts, of which a run may have several.
     */
    List<WriteResult> write(List<? extends Write> batch);

    /** Creates all runs in one transaction, or none if one is refused; the answers then say which. */
    List<TriggerResult> triggerAll(List<NewRun> runs);

    /** Creates the runs in the caller's own transaction, without committing or rolling it back. */
    List<TriggerResult> triggerIn(Connection connection, List<NewRun> runs);

    /** Takes up to {@code limit} PENDING runs, best first, with their recorded steps: one round trip. */
    Claimed claim(ClaimRequest request);

    /**
     * Takes runs like {@link #claim}, in a transaction that stays open, so that runs which complete soon are claimed and ended at once.
     *
     * @return empty if they have to be claimed the usual way; nothing was claimed then
     */
    default Optional<OpenClaim> openClaim(ClaimRequest request) {
        return Optional.empty();
    }

    /**
     * Takes runs of a queue that has a limit, at most as many as the limit leaves, whoever else claims at the same time.
     *
     * @param request has exactly one queue
     * @return empty if the queue has no limit; nothing was claimed then
     */
    Optional<Claimed> claimLimited(ClaimRequest request);

    /** Lets runs of a limited queue count that a worker claimed before it knew of the limit. */
    void countRunning(String namespace, String queue, Collection<RunId> executing);

    /** Sets the limit of a queue; runs of it that execute already count from now on. */
    void limit(String namespace, String queue, QueueLimit limit);

    /** Takes the limit of a queue away, if it has one. */
    void unlimit(String namespace, String queue);

    /** The limits of the namespace, by queue. */
    Map<String, QueueLimit> limits(String namespace);

    /** How much there is to do, by queue: those with runs that have not ended, and those of definitions. */
    List<QueueStats> queueStats(String namespace);

    /** What the run waits for, or null if there is no such run. */
    @Nullable
    Waiting waiting(RunId run);

    /** Looks for what is wrong with the database and the queues of the namespace; slow, and fails for nothing. */
    List<Finding> examine(String namespace);

    /** Makes due SLEEPING runs and RUNNING runs with an expired lease PENDING, and tells when the next one is due. */
    Promotion promote(PromoteRequest request);

    /** Prolongs leases and updates the worker's entry; tells what was lost and what was asked of the runs. */
    HeartbeatAnswer heartbeat(Heartbeat heartbeat);

    /** Fails waiting runs whose deadline has passed, a batch at a time, with their dead letters; returns how many. */
    int expireDeadlines(String namespace, DeadLetters deadLetters);

    /** The same, with who asks for it and why. */
    Operations by(By by);

    /** The oldest signal of this name in the run's inbox. */
    Received received(RunId run, String name);

    /**
     * Runs the application's SQL and keeps the step's outcome in one transaction: both or none. Answers with the outcome that
     * is kept, which is an earlier one if the transaction had committed before and only its answer was lost.
     *
     * @throws Transact.Failed with what the application's code threw
     * @throws dev.steadwork.LeaseLost if another worker has the run
     */
    default StepRecord transact(RunId run, long epoch, StepRecord.Key key, Transact work) throws Transact.Failed {
        throw new InvalidState(
                "Run %s: step %s is transactional, but this worker has no connection to the database of its runs: the store is remote. Use ctx.step(...) with an idempotent body, or a worker that opens the database itself."
                        .formatted(run, key.label()));
    }

    /** The run, or null if there is none. */
    @Nullable
    RunInfo find(RunId run);

    /** The input of the run, or null if there is no such run. */
    @Nullable
    Payload input(RunId run);

    /** The ends of those of the runs that have ended, are deleted for good, or never existed. */
    List<RunEnd> ends(Collection<RunId> runs);

    List<StepInfo> steps(RunId run);

    /** What was recorded of the run, in the order in which it happened. */
    List<RunEvent> events(RunId run);

    /** Runs that match, newest first, older than {@code before} if it is given. */
    List<RunInfo> list(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit);

    /** The ids of runs that match, in the order of {@link #list}. */
    List<RunId> listIds(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit);

    long count(String namespace, RunQuery.Filter filter);

    /** Keeps schedules and fires them. */
    ScheduleStore schedules();

    /** Records definitions, replacing older ones of the same name. */
    void register(String namespace, Collection<Definition> definitions);

    /** The queues of the definitions whose name begins with one of the prefixes. */
    Set<String> queuesOfPrefixes(String namespace, Collection<String> typePrefixes);

    /** Adds the worker, or makes it ONLINE again; the same (namespace, host, pid, name) is the same worker. */
    void registerWorker(WorkerRegistration worker);

    /** Records which queues the worker reads from now on. */
    void workerReads(String namespace, String workerId, Collection<String> queues);

    /** Marks the worker OFFLINE; whether there is such a worker. */
    boolean deregisterWorker(String namespace, String workerId);

    /** Asks the worker to take no more runs, until it registers again or is resumed; whether there is such a worker. */
    boolean drainWorker(String namespace, String workerId);

    /** Takes back what {@link #drainWorker} asked; whether there is such a worker. */
    boolean resumeWorker(String namespace, String workerId);

    /** Marks workers OFFLINE that have been silent for too long, and forgets those that have been so for this long. */
    void expireWorkers(String namespace, Duration forgetAfter);

    /** Workers that match, by id, after {@code after} if it is given. */
    List<WorkerInfo> workers(String namespace, Workers.Filter filter, @Nullable String after, int limit);

    long countWorkers(String namespace, Workers.Filter filter);

    /**
     * Creates a namespace.
     *
     * @throws dev.steadwork.Conflict if it exists
     */
    NamespaceInfo createNamespace(NamespaceInfo namespace);

    /** The namespace as it stands in the database; the defaults if it was never created. */
    NamespaceInfo findNamespace(String name);

    /** All namespaces that were created, by name. */
    List<NamespaceInfo> listNamespaces();

    /**
     * Changes a namespace in one transaction.
     *
     * @throws dev.steadwork.NotFound if it was never created
     */
    NamespaceInfo updateNamespace(String name, UnaryOperator<NamespaceInfo> change);

    /**
     * Lets a namespace take triggers and hand out runs, or not.
     *
     * @throws dev.steadwork.NotFound if it was never created
     */
    NamespaceInfo enableNamespace(String name, boolean enabled);

    /** The settings of a namespace as this process knows them; heartbeats and triggers look whether they changed. */
    NamespaceInfo settings(String namespace);

    /**
     * Looks at the next runs, oldest first, and deletes for good those that are no longer to be kept, in one short transaction.
     *
     * @param after where the part before ended; null at the beginning
     * @param countOnly whether to leave them and only count
     */
    Swept sweep(String namespace, NamespaceInfo.Retention keep, @Nullable RunId after, boolean countOnly);

    /**
     * Hands out events that are to be published, the oldest of each run, to this sender alone until the lease ends.
     */
    Outgoing.Batch claimOutbox(String namespace, String sender, int limit, Duration lease);

    /** Keeps what became of events that this sender still has. */
    void settleOutbox(String namespace, String sender, List<Outgoing.Settled> settled);

    /** Removes events that were published so long ago, and returns how many. */
    int deletePublished(String namespace, Duration olderThan, int limit);

    Outbox.Stats outboxStats(String namespace);

    /** Events that were given up, oldest first. */
    List<Outbox.DeadEvent> deadEvents(String namespace, int limit);

    /** Lets an event that was given up, or all if the number is null, be published after all; returns how many. */
    long redrive(String namespace, @Nullable Long number);

    /** Ends listeners, pools and connections that the store opened itself. */
    @Override
    void close();
}
