package dev.steadwork.store.jdbc;

import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Signals;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Hands out PENDING runs, with their recorded steps, in one statement. */
final class PostgresClaims implements Signals.Listener {
    /** Of so many kinds of claims something is known; a process has a few. */
    static final int MOST_KINDS = 1000;

    private static final int TRIES = 5;

    private final Database database;
    private final Map<Kind, ReadyFloors> floors = new ConcurrentHashMap<>();

    PostgresClaims(Database database) {
        this.database = database;
    }

    /** Claims that would take the same runs. */
    private record Kind(
            String namespace,
            List<String> queues,
            List<String> types,
            List<String> typePrefixes,
            List<String> versions) {
        static Kind of(ClaimRequest request) {
            return new Kind(
                    request.namespace(), request.queues(), request.types(), request.typePrefixes(), request.versions());
        }
    }

    /** Takes runs, for one transaction. */
    Claim claim(Connection connection, ClaimRequest request) throws SQLException {
        return claim(request, claim -> claimOnce(connection, claim));
    }

    /** Hands out runs by one statement. */
    @FunctionalInterface
    interface Taking {
        void into(Claim claim) throws SQLException;
    }

    Claim claim(ClaimRequest request, Taking taking) throws SQLException {
        var look = floorsOf(request).look(request.queues());
        var claim = new Claim(request, look);
        taking.into(claim);
        // Others took all that was best, while less urgent runs of other queues may still be there.
        for (int tries = 1; claim.missedAll() && tries < TRIES; tries++) {
            claim = new Claim(request, look);
            taking.into(claim);
        }
        look.ended(claim.taken.size());
        claim.sort();
        return claim;
    }

    private ReadyFloors floorsOf(ClaimRequest request) {
        if (floors.size() > MOST_KINDS) {
            floors.clear();
        }
        return floors.computeIfAbsent(Kind.of(request), kind -> new ReadyFloors(new WholeLooks()));
    }

    /** Runs became ready that count as ready since then. */
    void becameReady(String namespace, Instant since) {
        floors.forEach((kind, floor) -> {
            if (kind.namespace.equals(namespace)) {
                floor.becameReady(since);
            }
        });
    }

    /** Runs that were taken are there again. */
    void lost(String namespace, Claim claim) {
        var since = claim.readySince();
        if (since != null) {
            becameReady(namespace, since);
        }
    }

    @Override
    public void ready(int topic) {
        floors.values().forEach(ReadyFloors::told);
    }

    @Override
    public void gap() {
        floors.values().forEach(ReadyFloors::told);
    }

    private void claimOnce(Connection connection, Claim claim) throws SQLException {
        // given: hides the values from the planner, so that one plan fits all claims and is kept. Its clock is read
        //     after the snapshot was taken (now() is read before), so no run is claimed before it was created.
        // span: where to look, in the order of the claim if it is of one queue.
        // share: how many of the best runs wait in which span. Nothing is counted for one queue, whose spans are
        //     emptied in their order.
        // share, due: hashtextextended is what the index has; two names may have the same number, so the names stand
        // too.
        // due: locks so many of each span, stepping over what others hold.
        // claimed: finds a run by its place, which nobody can change while it is locked. A run that changed after the
        //     statement began, as when it was claimed and handed back or its child ended, may have steps that are not
        //     seen here; nor is its new place, so it is left for the next claim, although locked.
        //     BETWEEN looks selective to the planner, which then goes to each place, whatever it knows or does not
        //     know of the table.
        var sql = """
                WITH given AS MATERIALIZED (
                         SELECT CAST(:namespace AS text) AS namespace,
                                CAST(:worker AS text) AS worker,
                                CAST(:types AS text[]) AS types,
                                CAST(:prefixes AS text[]) AS prefixes,
                                CAST(:versions AS text[]) AS versions,
                                CAST(:several AS boolean) AS several,
                                CAST(:limit AS bigint) AS runs,
                                clock.now,
                                clock.now + :lease * interval '1 microsecond' AS lease_end
                           FROM (SELECT clock_timestamp() AS now) AS clock),
                     span AS MATERIALIZED (
                         SELECT u.queue,
                                u.highest,
                                u.lowest,
                                timestamptz 'epoch' + u.since * interval '1 microsecond' AS since
                           FROM unnest(
                                    (SELECT CAST(:queues AS text[])),
                                    (SELECT CAST(:highest AS integer[])),
                                    (SELECT CAST(:lowest AS integer[])),
                                    (SELECT CAST(:since AS bigint[])))
                             AS u (queue, highest, lowest, since)),
                     share AS MATERIALIZED (
                         SELECT best.queue, best.highest, best.lowest, best.since, count(*) AS runs
                           FROM (SELECT span.*
                                   FROM given
                                  CROSS JOIN span
                                  CROSS JOIN LATERAL (
                                        SELECT priority, due_at, run_id
                                          FROM steadwork.run
                                         WHERE shard = :shard
                                           AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                           AND hashtextextended(queue, 0) = hashtextextended(span.queue, 0)
                                           AND namespace = given.namespace
                                           AND queue = span.queue
                                           AND priority <= span.highest
                                           AND priority >= span.lowest
                                           AND due_at >= span.since
                                           AND status = 'PENDING'
                                           AND deleted_at IS NULL
                                           AND (type = ANY(given.types)
                                                OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                            WHERE starts_with(type, p.prefix)))
                                           AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                         ORDER BY priority DESC, due_at, run_id
                                         LIMIT given.runs) AS head
                                  WHERE given.several
                                  ORDER BY head.priority DESC, head.due_at, head.run_id
                                  LIMIT (SELECT runs FROM given)) AS best
                          GROUP BY best.queue, best.highest, best.lowest, best.since
                         UNION ALL
                         SELECT span.*, given.runs
                           FROM given
                          CROSS JOIN span
                          WHERE NOT given.several),
                     due AS MATERIALIZED (
                         SELECT head.place, head.priority, head.due_at
                           FROM given
                          CROSS JOIN share
                          CROSS JOIN LATERAL (
                                SELECT ctid AS place, priority, due_at
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND hashtextextended(namespace, shard) = hashtextextended(given.namespace, :shard)
                                   AND hashtextextended(queue, 0) = hashtextextended(share.queue, 0)
                                   AND namespace = given.namespace
                                   AND queue = share.queue
                                   AND priority <= share.highest
                                   AND priority >= share.lowest
                                   AND due_at >= share.since
                                   AND status = 'PENDING'
                                   AND deleted_at IS NULL
                                   AND (type = ANY(given.types)
                                        OR EXISTS (SELECT FROM unnest(given.prefixes) AS p (prefix)
                                                    WHERE starts_with(type, p.prefix)))
                                   AND (cardinality(given.versions) = 0 OR version = ANY(given.versions))
                                 ORDER BY priority DESC, due_at, run_id
                                 LIMIT share.runs
                                   FOR UPDATE SKIP LOCKED) AS head
                          LIMIT (SELECT runs FROM given)),
                     claimed AS (
                         UPDATE steadwork.run AS r
                            SET status = 'RUNNING',
                                lease_epoch = r.lease_epoch + 1,
                                worker = given.worker,
                                due_at = given.lease_end,
                                started_at = coalesce(r.started_at, given.now),
                                updated_at = given.now
                           FROM due
                          CROSS JOIN given
                          WHERE r.shard = :shard
                            AND r.ctid = due.place
                            AND due.priority BETWEEN -2147483648 AND 2147483647
                         RETURNING due.due_at AS ready_since, r.run_id, r.type, r.queue, r.priority, r.lease_epoch, r.attempt, r.retry, r.deadline,
                                   nullif(r.started_at, given.now) AS started_at, r.lost_leases, r.cancel_requested_at IS NOT NULL AS cancel_requested,
                                   r.parent_run_id, r.parent_step, r.depth, r.inbox, r.compensates IS NOT NULL AS compensates,
                                   r.input_type, r.input)
                SELECT now,
                       CASE WHEN several THEN coalesce((SELECT CAST(sum(runs) AS bigint) FROM share), 0) END AS waiting,
                       (SELECT count(*) FROM due) AS locked,
                       NULL AS ready_since,
                       NULL AS run_id,
                       NULL AS type,
                       NULL AS queue,
                       NULL AS priority,
                       NULL AS lease_epoch,
                       NULL AS attempt,
                       NULL AS retry,
                       NULL AS deadline,
                       NULL AS started_at,
                       NULL AS lost_leases,
                       NULL AS cancel_requested,
                       NULL AS relative,
                       NULL AS parent_step,
                       NULL AS depth,
                       NULL AS inbox,
                       NULL AS compensates,
                       NULL AS payload_type,
                       NULL AS payload,
                       NULL AS name,
                       CAST(NULL AS integer) AS occurrence,
                       CAST(NULL AS integer) AS position,
                       NULL AS kind,
                       NULL AS status,
                       NULL AS error,
                       CAST(NULL AS timestamptz) AS finished_at,
                       CAST(NULL AS timestamptz) AS wake_at
                  FROM given
                UNION ALL
                SELECT NULL, NULL, NULL, c.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
                  FROM claimed AS c
                UNION ALL
                SELECT NULL, NULL, NULL, NULL, c.run_id, NULL, NULL, NULL, NULL, s.attempt, NULL, NULL, s.started_at, NULL, NULL,
                       s.child_run_id, NULL, NULL, NULL, NULL, s.output_type, s.output, s.name, s.occurrence, s.position, s.kind, s.status, s.error, s.finished_at,
                       s.wake_at
                  FROM claimed AS c
                 CROSS JOIN LATERAL (
                       SELECT name, occurrence, position, kind, status, attempt, error, started_at, finished_at, wake_at,
                              output_type, output, child_run_id
                         FROM steadwork.step
                        WHERE shard = :shard
                          AND run_id = c.run_id
                       UNION ALL
                       (SELECT DISTINCT ON (name, occurrence)
                               name, occurrence, position, kind, 'RETRYING', attempt, error, started_at, finished_at, NULL,
                               NULL, NULL, NULL
                          FROM steadwork.step_attempt AS a
                         WHERE shard = :shard
                           AND run_id = c.run_id
                           AND NOT EXISTS (
                               SELECT FROM steadwork.step AS s
                                WHERE s.shard = :shard
                                  AND s.run_id = c.run_id
                                  AND s.name = a.name
                                  AND s.occurrence = a.occurrence)
                         ORDER BY name, occurrence, attempt DESC)) AS s
                 WHERE c.lease_epoch > 1
                """;
        var values = claim.columns()
                .with("worker", claim.request.worker())
                .with("lease", Columns.micros(claim.request.lease()))
                .values();
        new Pipeline(database).add(sql, values, claim::read).run(connection);
    }

    /** What one statement handed out. */
    static final class Claim {
        private final ClaimRequest request;
        private final ReadyFloors.Look look;
        private final ClaimedRows rows = new ClaimedRows();
        private final List<Taken> taken = new ArrayList<>();
        private @Nullable Long waiting;
        private long locked;
        private @Nullable String transaction;

        private record Taken(ClaimedRun run, Instant readySince) {
            private static final Comparator<Taken> IN_ORDER = Comparator.comparing(
                            (Taken taken) -> taken.run.priority(), Comparator.reverseOrder())
                    .thenComparing(Taken::readySince)
                    .thenComparing(taken -> taken.run.id());
        }

        private Claim(ClaimRequest request, ReadyFloors.Look look) {
            this.request = request;
            this.look = look;
        }

        ClaimRequest request() {
            return request;
        }

        /** Where to look and what for, as statements that hand out runs call it. */
        Columns<ReadyFloors.Span> columns() {
            var types = request.typePrefixes().isEmpty() ? request.types() : List.<String>of();
            return Columns.of(look.spans())
                    .with("shard", Shards.ONLY)
                    .with("namespace", request.namespace())
                    .with("types", Columns.textArray(types))
                    .with("prefixes", Columns.textArray(request.typePrefixes()))
                    .with("versions", Columns.textArray(request.versions()))
                    .with("several", request.queues().size() > 1)
                    .with("limit", request.limit())
                    .texts("queues", ReadyFloors.Span::queue)
                    .ints("highest", ReadyFloors.Span::highest)
                    .ints("lowest", ReadyFloors.Span::lowest)
                    .times("since", ReadyFloors.Span::since);
        }

        void read(ResultSet row) throws SQLException {
            var run = rows.read(row);
            if (run != null) {
                taken.add(new Taken(
                        run, row.getObject("ready_since", OffsetDateTime.class).toInstant()));
            }
            if (waiting == null) {
                waiting = row.getObject("waiting", Long.class);
            }
            locked = Math.max(locked, row.getLong("locked"));
        }

        /** Also notes in which transaction: the first row tells it. */
        void readOpen(ResultSet row) throws SQLException {
            read(row);
            if (transaction == null) {
                transaction = row.getString("transaction");
            }
        }

        /** The transaction that locked them, as the database calls it; null if that is not known, or none. */
        @Nullable
        String transaction() {
            return transaction;
        }

        private boolean missedAll() {
            return taken.isEmpty() && waiting != null && waiting > 0;
        }

        private void sort() {
            rows.sortSteps();
            taken.sort(Taken.IN_ORDER);
        }

        Claimed claimed() {
            var runs = taken.stream().map(Taken::run).toList();
            return new Claimed(rows.now(), runs, null, runs.size() < request.limit() ? untilNext() : null);
        }

        /** A run that was locked and left is there for the next claim, at once. */
        private @Nullable Duration untilNext() {
            return leftSome() ? Duration.ZERO : look.untilWhole();
        }

        /** Whether runs were locked that are left for the next claim. */
        boolean leftSome() {
            return locked > taken.size();
        }

        /** Whether one of the runs was claimed before: it may have steps, and a worker may have been lost with it. */
        boolean hasEarlierClaims() {
            return taken.stream().anyMatch(one -> one.run.epoch() > 1);
        }

        /** Since when the run has been ready that has been so for longest; null if there is none. */
        @Nullable
        Instant readySince() {
            return taken.stream()
                    .map(Taken::readySince)
                    .min(Comparator.naturalOrder())
                    .orElse(null);
        }

        /** Notes where the next claim need not look. A run that was locked and left for it is still there. */
        void learn() {
            if (leftSome()) {
                return;
            }
            int limit = request.limit();
            if (waiting == null ? taken.size() < limit : waiting < limit && taken.size() == waiting) {
                look.foundAll(rows.now(), taken.stream().map(one -> one.run.priority()));
            } else if (waiting == null && !taken.isEmpty()) {
                var last = taken.get(taken.size() - 1);
                look.foundEnough(rows.now(), last.run.priority(), last.readySince);
            }
        }
    }
}
