package dev.steadwork.store.jdbc;

import dev.steadwork.Finding;
import dev.steadwork.InvalidArgument;
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
import dev.steadwork.store.By;
import dev.steadwork.store.DeadLetters;
import dev.steadwork.store.Definition;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Operations;
import dev.steadwork.store.Outgoing;
import dev.steadwork.store.Received;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.ScheduleStore;
import dev.steadwork.store.Signals;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Store;
import dev.steadwork.store.Swept;
import dev.steadwork.store.Transact;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.WorkerRegistration;
import dev.steadwork.store.Write;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** What all databases share: everything but the hot path, which each of them does in its own way. */
abstract class JdbcStore implements Store {
    protected final Database database;
    protected final StoreConfig config;
    private final Migrations migrations;
    private final Signals signals = new Signals();
    private final Deadlines deadlines;
    private final Reads reads;
    private final Registry registry;
    private final WorkerRegistry workers;
    private final QueueCounts queueCounts;
    private final WaitingRuns waitingRuns;
    private final Messages messages;
    protected final Events events;
    private final Transactions transactions;
    private final Limits limits;
    private final Retention retention;
    private final Namespaces namespaces;
    private final OutgoingEvents outgoing;
    protected final KnownNamespaces knownNamespaces;
    private final JdbcSchedules schedules;
    protected final Families families;

    protected JdbcStore(Database database, StoreConfig config, Migrations migrations, Events events) {
        this.database = database;
        this.config = config;
        this.migrations = migrations;
        this.events = events;
        this.families = new Families(database, events);
        this.deadlines = new Deadlines(database, this, families, events);
        this.messages = new Messages(database, this, families, events, By.NOBODY);
        this.transactions = new Transactions(database, events);
        this.reads = new Reads(database);
        this.registry = new Registry(database);
        this.workers = new WorkerRegistry(database, config.staleAfter());
        this.limits = new Limits(database);
        this.retention = new Retention(database);
        this.namespaces = events.namespaces();
        this.outgoing = new OutgoingEvents(database);
        this.knownNamespaces = events.known();
        this.queueCounts = new QueueCounts(database);
        this.waitingRuns = new WaitingRuns(database, reads, namespaces, workers, limits, config.staleAfter());
        signals.subscribe(knownNamespaces);
        this.schedules =
                new JdbcSchedules(database, this, new Transitions(database, this, families, events, By.NOBODY));
    }

    @Override
    public final Signals signals() {
        return signals;
    }

    /** Runs may be ready in queues with these topics. Called after the commit; a store that can tells other processes too. */
    protected void tellReady(Collection<Integer> topics) {
        signals.ready(topics);
    }

    /** Runs with these hashes have ended. Called after the commit; a store that can tells other processes too. */
    protected void tellEnded(Collection<Integer> runHashes) {
        signals.ended(runHashes);
    }

    /** Something was asked of a run or a worker. Called after the commit; a store that can tells other processes too. */
    protected void tellRequested(int hash) {
        signals.requested(hash);
    }

    /** Settings of a namespace have changed. Called after the commit; a store that can tells other processes too. */
    protected void tellSettings() {
        signals.settings();
        knownNamespaces.refresh();
    }

    /** Outside the transaction: whether somebody wants to know of new runs. */
    protected final void lookBefore(List<? extends Write> batch) {
        if (batch.stream().anyMatch(write -> write instanceof Write.Trigger)) {
            lookBefore();
        }
    }

    /** Outside the transaction: whether somebody wants to know what happens to runs. */
    final void lookBefore() {
        knownNamespaces.refresh();
    }

    /** A schedule of this namespace has changed. Called after the commit; a store that can tells other processes too. */
    protected void tellScheduled(String namespace) {
        signals.scheduled(namespace.hashCode());
    }

    /** Refuses a connection that commits every statement by itself: a run could not be part of its transaction. */
    protected final void checkHasTransaction(Connection connection) {
        try {
            if (connection.getAutoCommit()) {
                throw new InvalidArgument(
                        "The connection given to in(...) is in auto-commit mode. Call setAutoCommit(false) before, and commit() when all is done.");
            }
        } catch (SQLException e) {
            throw SqlErrors.translate(e, "looking at the caller's connection to " + database.place());
        }
    }

    /** Creates runs in a transaction of our own. */
    protected List<TriggerResult> triggerWith(Handle handle, List<NewRun> runs) {
        return triggerIn(handle.getConnection(), runs);
    }

    /** Creates those of the runs that can be, in a transaction of our own; adds where something is ready then. */
    protected abstract List<TriggerResult> triggerEach(Handle handle, List<NewRun> runs, Effects effects);

    @Override
    public void migrate() {
        migrations.migrate();
    }

    @Override
    public void checkSchema() {
        migrations.check();
    }

    @Override
    public String printMigrations() {
        return migrations.print();
    }

    @Override
    public int expireDeadlines(String namespace, DeadLetters deadLetters) {
        lookBefore();
        return deadlines.expire(namespace, deadLetters);
    }

    @Override
    public Operations by(By by) {
        knownNamespaces.refresh();
        return new OperatorActions(database, this, families, events, by);
    }

    @Override
    public void cancel(RunId run) {
        by(By.NOBODY).cancel(run);
    }

    @Override
    public void terminate(RunId run, String reason) {
        by(By.NOBODY).terminate(run, reason);
    }

    @Override
    public void pause(RunId run) {
        by(By.NOBODY).pause(run);
    }

    @Override
    public void resume(RunId run) {
        by(By.NOBODY).resume(run);
    }

    @Override
    public void retry(RunId run) {
        by(By.NOBODY).retry(run);
    }

    @Override
    public void delete(RunId run, String reason) {
        by(By.NOBODY).delete(run, reason);
    }

    @Override
    public void signal(RunId run, String name, Payload payload) {
        by(By.NOBODY).signal(run, name, payload);
    }

    @Override
    public Received received(RunId run, String name) {
        return messages.received(run, name);
    }

    @Override
    public StepRecord transact(RunId run, long epoch, StepRecord.Key key, Transact work) throws Transact.Failed {
        return transactions.transact(run, epoch, key, work);
    }

    @Override
    public int cancelAll(List<RunId> runs) {
        return by(By.NOBODY).cancelAll(runs);
    }

    @Override
    public int retryAll(List<RunId> runs) {
        return by(By.NOBODY).retryAll(runs);
    }

    @Override
    public int deleteAll(List<RunId> runs, String reason) {
        return by(By.NOBODY).deleteAll(runs, reason);
    }

    @Override
    public RunId fork(RunId run, String step, @Nullable Payload input) {
        return by(By.NOBODY).fork(run, step, input);
    }

    @Override
    public @Nullable RunInfo find(RunId run) {
        return reads.find(run);
    }

    @Override
    public @Nullable Payload input(RunId run) {
        return reads.input(run);
    }

    @Override
    public List<RunEnd> ends(Collection<RunId> runs) {
        return reads.ends(runs);
    }

    @Override
    public List<StepInfo> steps(RunId run) {
        return reads.steps(run);
    }

    @Override
    public List<RunEvent> events(RunId run) {
        return events.of(run);
    }

    @Override
    public List<RunInfo> list(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit) {
        return reads.list(namespace, filter, before, limit);
    }

    @Override
    public List<RunId> listIds(String namespace, RunQuery.Filter filter, @Nullable RunId before, int limit) {
        return reads.listIds(namespace, filter, before, limit);
    }

    @Override
    public long count(String namespace, RunQuery.Filter filter) {
        return reads.count(namespace, filter);
    }

    @Override
    public void countRunning(String namespace, String queue, Collection<RunId> executing) {
        limits.countRunning(namespace, queue, executing);
    }

    @Override
    public void limit(String namespace, String queue, QueueLimit limit) {
        limits.limit(namespace, queue, limit);
        tellReady(List.of(Signals.topic(namespace, queue)));
    }

    @Override
    public void unlimit(String namespace, String queue) {
        limits.unlimit(namespace, queue);
        tellReady(List.of(Signals.topic(namespace, queue)));
    }

    @Override
    public Map<String, QueueLimit> limits(String namespace) {
        return limits.all(namespace);
    }

    @Override
    public NamespaceInfo createNamespace(NamespaceInfo namespace) {
        var created = namespaces.create(namespace);
        tellSettings();
        return created;
    }

    @Override
    public NamespaceInfo findNamespace(String name) {
        return namespaces.find(name);
    }

    @Override
    public List<NamespaceInfo> listNamespaces() {
        return database.read(namespaces::list).stream()
                .sorted(Comparator.comparing(NamespaceInfo::name))
                .toList();
    }

    @Override
    public NamespaceInfo updateNamespace(String name, UnaryOperator<NamespaceInfo> change) {
        var updated = namespaces.update(name, change);
        tellSettings();
        return updated;
    }

    @Override
    public NamespaceInfo enableNamespace(String name, boolean enabled) {
        var changed = namespaces.enable(name, enabled);
        tellSettings();
        return changed;
    }

    @Override
    public NamespaceInfo settings(String namespace) {
        return knownNamespaces.of(namespace);
    }

    @Override
    public ScheduleStore schedules() {
        return schedules;
    }

    @Override
    public List<QueueStats> queueStats(String namespace) {
        return queueCounts.stats(namespace);
    }

    @Override
    public @Nullable Waiting waiting(RunId run) {
        return waitingRuns.of(run);
    }

    @Override
    public List<Finding> examine(String namespace) {
        return new Checkup(database, migrations, queueCounts, waitingRuns).examine(namespace, probes());
    }

    /** What may be wrong with this kind of database, by name. */
    protected abstract Map<String, Probe> probes();

    @Override
    public Outgoing.Batch claimOutbox(String namespace, String sender, int limit, Duration lease) {
        return outgoing.claim(namespace, sender, limit, lease);
    }

    @Override
    public void settleOutbox(String namespace, String sender, List<Outgoing.Settled> settled) {
        outgoing.settle(sender, settled);
    }

    @Override
    public int deletePublished(String namespace, Duration olderThan, int limit) {
        return outgoing.deletePublished(namespace, olderThan, limit);
    }

    @Override
    public Outbox.Stats outboxStats(String namespace) {
        return outgoing.stats(namespace);
    }

    @Override
    public List<Outbox.DeadEvent> deadEvents(String namespace, int limit) {
        return outgoing.dead(namespace, limit);
    }

    @Override
    public long redrive(String namespace, @Nullable Long number) {
        long redriven = outgoing.redrive(namespace, number);
        signals.recorded();
        return redriven;
    }

    @Override
    public void register(String namespace, Collection<Definition> definitions) {
        registry.register(namespace, definitions);
        tellSettings();
    }

    @Override
    public Set<String> queuesOfPrefixes(String namespace, Collection<String> typePrefixes) {
        return registry.queuesOfPrefixes(namespace, typePrefixes);
    }

    @Override
    public void registerWorker(WorkerRegistration worker) {
        workers.register(worker);
    }

    @Override
    public void workerReads(String namespace, String workerId, Collection<String> queues) {
        workers.reads(namespace, workerId, queues);
    }

    @Override
    public boolean deregisterWorker(String namespace, String workerId) {
        return workers.deregister(namespace, workerId);
    }

    @Override
    public boolean drainWorker(String namespace, String workerId) {
        boolean found = workers.drain(namespace, workerId);
        tellRequested(Signals.hash(namespace, workerId));
        return found;
    }

    @Override
    public boolean resumeWorker(String namespace, String workerId) {
        boolean found = workers.resume(namespace, workerId);
        tellRequested(Signals.hash(namespace, workerId));
        return found;
    }

    @Override
    public void expireWorkers(String namespace, Duration forgetAfter) {
        workers.expire(namespace, forgetAfter);
    }

    @Override
    public List<WorkerInfo> workers(String namespace, Workers.Filter filter, @Nullable String after, int limit) {
        return workers.list(namespace, filter, after, limit);
    }

    @Override
    public long countWorkers(String namespace, Workers.Filter filter) {
        return workers.count(namespace, filter);
    }

    @Override
    public Swept sweep(String namespace, NamespaceInfo.Retention keep, @Nullable RunId after, boolean countOnly) {
        return retention.sweep(namespace, keep, after, countOnly);
    }

    @Override
    public void close() {
        database.close();
    }
}
