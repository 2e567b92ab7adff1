package dev.steadwork.store.jdbc;

import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.OpenClaim;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Promotion;
import dev.steadwork.store.Signals;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Keeps runs in Postgres. Every call of the hot path is one round trip and one transaction, unless something is rare. */
final class PostgresStore extends JdbcStore {
    /** Open claims keep up to two of them. */
    private static final int CONNECTIONS_TO_OPEN_CLAIMS = 5;

    private final PostgresEvents recorded;
    private final Trips trips;
    private final KnownDefinitions definitions;
    private final PostgresTriggers triggers;
    private final PostgresWrites writes;
    private final PostgresClaims claims;
    private final PostgresLimits limits;
    private final PostgresTimers timers;
    private final EarlyAnalysis analysis;
    private final boolean hasFewConnections;
    private final Notifier notifier;
    private final @Nullable NotificationListener listener;

    PostgresStore(Database database, StoreConfig config, Migrations migrations) {
        this(database, config, migrations, new PostgresEvents(database));
    }

    private PostgresStore(Database database, StoreConfig config, Migrations migrations, PostgresEvents recorded) {
        super(database, config, migrations, recorded);
        this.recorded = recorded;
        this.trips = new Trips(database);
        this.definitions = new KnownDefinitions(database);
        signals().subscribe(definitions);
        this.triggers =
                new PostgresTriggers(database, config, recorded, new PostgresPlainRuns(definitions, knownNamespaces));
        var notifications = new Notifications(database.schema());
        this.notifier = new Notifier(database, trips, notifications);
        this.writes = new PostgresWrites(database, triggers, families, recorded, notifier);
        this.claims = new PostgresClaims(database);
        signals().subscribe(claims);
        this.limits = new PostgresLimits(database);
        this.timers = new PostgresTimers(database);
        this.analysis = new EarlyAnalysis(database, trips);
        this.hasFewConnections = config.poolSize() < CONNECTIONS_TO_OPEN_CLAIMS;
        this.listener = config.listen() ? NotificationListener.start(config, notifications, signals()) : null;
    }

    @Override
    public void migrate() {
        super.migrate();
        analysis.lookSoon();
    }

    @Override
    public void checkSchema() {
        super.checkSchema();
        analysis.lookSoon();
    }

    /** One for triggers, one for what ends or parks runs, two for steps. */
    @Override
    public int lanes() {
        return 4;
    }

    @Override
    public List<WriteResult> write(List<? extends Write> batch) {
        lookBefore(batch);
        definitions.look(batch.stream()
                .flatMap(write -> write instanceof Write.Trigger trigger ? Stream.of(trigger.newRun()) : Stream.empty())
                .toList());
        var flush = writes.isOneTrip(batch)
                ? trips.autocommit(connection -> writes.write(connection, batch, true))
                : trips.inTransaction(connection -> writes.write(connection, batch, false));
        analysis.count(batch.size());
        if (flush.isRecorded()) {
            signals().recorded();
        }
        signals().ready(flush.parkedTopics());
        signals().ready(flush.readyTopics());
        notifier.tell(Notifications.Kind.READY, flush.untoldTopics());
        tellEnded(flush.endedHashes());
        flush.effects().tell(this);
        return flush.answers();
    }

    @Override
    public List<TriggerResult> triggerAll(List<NewRun> runs) {
        knownNamespaces.refresh();
        definitions.look(runs);
        var plain = triggers.asOneStatement(runs);
        var triggered = plain.isPresent()
                ? trips.autocommit(connection -> triggers.createNew(connection, runs, plain.get()))
                : trips.inTransaction(connection -> triggers.createAll(connection, runs));
        analysis.count(runs.size());
        tellReady(triggered.topics());
        return triggered.of(runs);
    }

    /** Tells by a NOTIFY in the caller's transaction, which this process hears too: only Postgres knows if it commits. */
    @Override
    public List<TriggerResult> triggerIn(Connection connection, List<NewRun> runs) {
        checkHasTransaction(connection);
        return trips.inTransactionOf(connection, own -> {
            knownNamespaces.refresh(() -> database.handleOf(own));
            var triggered = triggers.createAll(own, runs);
            notifier.tellOnCommit(own, triggered.topics());
            return triggered.of(runs);
        });
    }

    @Override
    protected List<TriggerResult> triggerEach(Handle handle, List<NewRun> runs, Effects effects) {
        return trips.within(handle, connection -> {
            var triggered = triggers.create(connection, runs);
            effects.readyTopics().addAll(triggered.topics());
            return triggered.of(runs);
        });
    }

    @Override
    protected Map<String, Probe> probes() {
        return new PostgresProbes(database).all();
    }

    @Override
    public Claimed claim(ClaimRequest request) {
        if (knownNamespaces.of(request.namespace()).isDisabled()) {
            return Claimed.NOTHING;
        }
        var claim = events.claimsFrom(request.namespace())
                ? trips.inTransaction(connection -> {
                    var made = claims.claim(connection, request);
                    recorded.append(connection, Events.leased(made.claimed(), request.worker()));
                    return made;
                })
                : trips.autocommit(connection -> claims.claim(connection, request));
        var claimed = claim.claimed();
        claim.learn();
        return claimed;
    }

    @Override
    public Optional<OpenClaim> openClaim(ClaimRequest request) {
        var namespace = request.namespace();
        if (hasFewConnections || knownNamespaces.of(namespace).isDisabled() || events.claimsFrom(namespace)) {
            return Optional.empty();
        }
        var transaction = trips.begin();
        try {
            var claim = transaction.run(
                    connection -> claims.claim(request, one -> PostgresOpenClaim.lock(database, connection, one)));
            // The usual claim brings the steps of runs that have some, and is committed before one begins that may have
            // killed a worker.
            if (claim.hasEarlierClaims()) {
                transaction.close();
                claims.lost(namespace, claim);
                return Optional.empty();
            }
            claim.learn(); // at once: the next claim begins before this one is kept
            return Optional.of(new PostgresOpenClaim(
                    database, trips, transaction, claim, this::ended, () -> claims.lost(namespace, claim)));
        } catch (RuntimeException | Error failure) {
            transaction.close();
            throw failure;
        }
    }

    private void ended(List<Write.Finish> ends) {
        analysis.count(ends.size());
        tellEnded(ends.stream().map(end -> Signals.hash(end.run())).toList());
    }

    @Override
    public Optional<Claimed> claimLimited(ClaimRequest request) {
        if (knownNamespaces.of(request.namespace()).isDisabled()) {
            return Optional.of(Claimed.NOTHING);
        }
        if (!events.claimsFrom(request.namespace())) {
            return trips.autocommit(connection -> limits.claim(connection, request));
        }
        return trips.inTransaction(connection -> {
            var claimed = limits.claim(connection, request);
            if (claimed.isPresent()) {
                recorded.append(connection, Events.leased(claimed.get(), request.worker()));
            }
            return claimed;
        });
    }

    @Override
    public Promotion promote(PromoteRequest request) {
        var promoted = events.areWanted(request.namespace())
                ? trips.inTransaction(connection -> {
                    var lost = timers.promote(connection, request);
                    recorded.append(connection, lost.events());
                    return lost;
                })
                : trips.autocommit(connection -> timers.promote(connection, request));
        timers.committed(request, promoted);
        var readySince = promoted.readySince();
        if (readySince != null) {
            claims.becameReady(request.namespace(), readySince);
        }
        var promotion = promoted.promotion();
        if (promotion.promoted() > 1) {
            tellReady(promoted.topics());
        }
        return promotion;
    }

    @Override
    public HeartbeatAnswer heartbeat(Heartbeat heartbeat) {
        var version = new long[1];
        var answer = trips.autocommit(connection -> timers.heartbeat(connection, heartbeat, version));
        knownNamespaces.seen(version[0]);
        return answer;
    }

    @Override
    protected void tellReady(Collection<Integer> topics) {
        super.tellReady(topics);
        notifier.tell(Notifications.Kind.READY, topics);
    }

    @Override
    protected void tellEnded(Collection<Integer> runHashes) {
        super.tellEnded(runHashes);
        notifier.tell(Notifications.Kind.ENDED, runHashes);
    }

    @Override
    protected void tellRequested(int runHash) {
        super.tellRequested(runHash);
        notifier.tell(Notifications.Kind.REQUESTED, List.of(runHash));
    }

    @Override
    protected void tellSettings() {
        super.tellSettings();
        notifier.tell(Notifications.Kind.SETTINGS, List.of(0));
    }

    @Override
    protected void tellScheduled(String namespace) {
        super.tellScheduled(namespace);
        notifier.tell(Notifications.Kind.SCHEDULED, List.of(namespace.hashCode()));
    }

    @Override
    public void close() {
        notifier.close();
        if (listener != null) {
            listener.close();
        }
        super.close();
    }
}
