package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidState;
import dev.steadwork.SteadworkException;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Promotion;
import dev.steadwork.store.Signals;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Keeps runs in an SQLite file, or in memory. One thread writes at a time, so nothing here can deadlock. */
final class SqliteStore extends JdbcStore {
    private final SqliteTriggers triggers;
    private final SqliteClaims claims;
    private final SqliteLimits limits;
    private final SqliteTimers timers;
    private final @Nullable SqliteWatch watch;
    private volatile boolean claimedLast;

    /** @param watch hears of other processes' changes; null if there are none to hear of */
    SqliteStore(Database database, StoreConfig config, Migrations migrations, @Nullable SqliteWatch watch) {
        super(database, config, migrations, new SqliteEvents(database));
        this.triggers = new SqliteTriggers(database, config.staleAfter(), events);
        this.claims = new SqliteClaims(database);
        this.limits = new SqliteLimits(database, claims);
        this.timers = new SqliteTimers(database, events);
        this.watch = watch;
        if (watch != null) {
            watch.start(signals());
        }
    }

    @Override
    public void checkMayWrite() {
        if (database.isInTransaction()) {
            throw new InvalidState(
                    "This thread is inside ctx.transaction(...), which holds the one writer of SQLite. Trigger with .in(connection), or before or after the transactional step.");
        }
    }

    /** SQLite has one writer. */
    @Override
    public int lanes() {
        return 1;
    }

    @Override
    public List<WriteResult> write(List<? extends Write> batch) {
        record Written(List<WriteResult> results, SqliteWrites writes) {}
        lookBefore(batch);
        var written = database.inTransaction(handle -> {
            var writes = new SqliteWrites(database, triggers, families, events, handle);
            return new Written(writes.apply(batch), writes);
        });
        if (events.known().recordsAny()) {
            signals().recorded();
        }
        written.writes.effects().tell(this);
        return written.results;
    }

    @Override
    public List<TriggerResult> triggerAll(List<NewRun> runs) {
        var topics = new HashSet<Integer>();
        knownNamespaces.refresh();
        var results = database.inTransaction(handle -> insertAllOrNone(handle, runs, topics));
        tellReady(topics);
        return results;
    }

    /** Nobody is told here: the watch notices the caller's commit. */
    @Override
    public List<TriggerResult> triggerIn(Connection connection, List<NewRun> runs) {
        checkHasTransaction(connection);
        try {
            // Not closed: closing would end the caller's transaction.
            var handle = database.handleOf(connection);
            knownNamespaces.refresh(() -> handle);
            return insertAllOrNone(handle, runs, new HashSet<>());
        } catch (RuntimeException e) {
            throw database.translate(e, "triggering in the caller's transaction in");
        }
    }

    /** Its transaction is begun by hand, so the driver takes the connection for one in auto-commit mode. */
    @Override
    protected List<TriggerResult> triggerWith(Handle handle, List<NewRun> runs) {
        return insertAll(handle, runs, new HashSet<>());
    }

    @Override
    protected List<TriggerResult> triggerEach(Handle handle, List<NewRun> runs, Effects effects) {
        return insertAll(handle, runs, effects.readyTopics());
    }

    private List<TriggerResult> insertAllOrNone(Handle handle, List<NewRun> runs, Set<Integer> topics) {
        handle.execute("SAVEPOINT all_or_none");
        try {
            var results = insertAll(handle, runs, topics);
            if (!results.stream().allMatch(TriggerResult::accepted)) {
                handle.execute("ROLLBACK TO all_or_none");
                topics.clear();
            }
            handle.execute("RELEASE all_or_none");
            return results;
        } catch (SteadworkException badItem) {
            handle.execute("ROLLBACK TO all_or_none");
            throw badItem;
        }
    }

    private List<TriggerResult> insertAll(Handle handle, List<NewRun> runs, Set<Integer> topics) {
        Instant now = database.now(handle);
        var results = new ArrayList<TriggerResult>(runs.size());
        for (var run : runs) {
            results.add(triggers.insert(handle, run, now, topics));
        }
        return results;
    }

    @Override
    protected Map<String, Probe> probes() {
        return new SqliteProbes(database).all();
    }

    /** Looks before it writes, unless the last claim found something: a worker without work keeps nobody from writing. */
    @Override
    public Claimed claim(ClaimRequest request) {
        if (knownNamespaces.of(request.namespace()).isDisabled()) {
            return Claimed.NOTHING;
        }
        if (!claimedLast && !database.look(handle -> claims.isAnyReady(handle, request))) {
            return new Claimed(SqliteTime.now(), List.of());
        }
        var claimed = database.inTransaction(handle -> claim(handle, request));
        claimedLast = !claimed.runs().isEmpty();
        return claimed;
    }

    private Claimed claim(Handle handle, ClaimRequest request) {
        var claimed = claims.claim(handle, request);
        recordClaim(handle, request, claimed);
        return claimed;
    }

    private void recordClaim(Handle handle, ClaimRequest request, Claimed claimed) {
        if (events.claimsFrom(request.namespace())) {
            events.append(handle, Events.leased(claimed, request.worker()));
        }
    }

    /** Looks before it writes, as a claim does. */
    @Override
    public Optional<Claimed> claimLimited(ClaimRequest request) {
        if (knownNamespaces.of(request.namespace()).isDisabled()) {
            return Optional.of(Claimed.NOTHING);
        }
        return database.inTransaction(handle -> {
            var claimed = limits.claim(handle, request);
            claimed.ifPresent(taken -> recordClaim(handle, request, taken));
            return claimed;
        });
    }

    @Override
    public Promotion promote(PromoteRequest request) {
        var untilNext = database.look(handle -> timers.untilNext(handle, request));
        return untilNext.isPresent() && untilNext.get().isZero()
                ? promoteDue(request)
                : new Promotion(0, untilNext.orElse(null));
    }

    private Promotion promoteDue(PromoteRequest request) {
        var promotion = database.inTransaction(handle -> timers.promote(handle, request));
        if (promotion.promoted() > 1) {
            tellReady(request.queues().stream()
                    .map(queue -> Signals.topic(request.namespace(), queue))
                    .toList());
        }
        return promotion;
    }

    @Override
    public HeartbeatAnswer heartbeat(Heartbeat heartbeat) {
        var version = new long[1];
        var answer = watch == null
                ? database.inTransaction(handle -> timers.heartbeat(handle, heartbeat, version))
                : heartbeat(watch, heartbeat, version);
        knownNamespaces.seen(version[0]);
        return answer;
    }

    private HeartbeatAnswer heartbeat(SqliteWatch watching, Heartbeat heartbeat, long[] version) {
        try (var own = watching.ownCommit()) {
            return database.inTransaction(handle -> {
                var answer = timers.heartbeat(handle, heartbeat, version);
                own.begins();
                return answer;
            });
        }
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        super.close();
    }
}
