package dev.steadwork.store.jdbc;

import dev.steadwork.RunStatus;
import dev.steadwork.store.Ack;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Write;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A batch of writes: one statement for all writes of a kind, all statements in one round trip. Statements answer with the
 * writes that they applied; only if one is missing, a second trip finds out why.
 */
final class PostgresWrites {
    /** More rows might fill the buffers of both sides while each waits for the other to read: then one by one. */
    private static final int MAX_PER_TRIP = 2_000;

    /** Batches are as small as that when little happens. */
    private static final int SMALL = 4;

    private final Database database;
    private final PostgresTriggers triggers;
    private final Families families;
    private final PostgresEvents events;
    private final Notifier notifier;

    PostgresWrites(
            Database database, PostgresTriggers triggers, Families families, PostgresEvents events, Notifier notifier) {
        this.database = database;
        this.triggers = triggers;
        this.families = families;
        this.events = events;
        this.notifier = notifier;
    }

    /** Whether the batch fits into one round trip in autocommit mode; otherwise it needs a transaction around it. */
    boolean isOneTrip(List<? extends Write> batch) {
        return batch.size() <= MAX_PER_TRIP
                && batch.stream().noneMatch(PostgresWrites::touchesOtherRuns)
                && !isRecorded(batch);
    }

    /** Whether somebody wants to know what the batch does: what it did is known only after its statements. */
    private boolean isRecorded(List<? extends Write> batch) {
        return events.areWantedByWorkers()
                || batch.stream()
                        .anyMatch(write -> write instanceof Write.Trigger trigger
                                && events.areWanted(trigger.newRun().namespace()));
    }

    private static boolean touchesOtherRuns(Write write) {
        return write instanceof Write.Finish finish && (finish.deadLetter() != null || finish.endsChildren())
                || write instanceof Write.SaveStep save && save.child() != null;
    }

    Flush write(Connection connection, List<? extends Write> batch, boolean oneTrip) throws SQLException {
        if (!oneTrip) {
            return write(connection, batch, false, false);
        }
        try {
            return write(connection, batch, true, true);
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicate(e) && !SqlErrors.mayNotNotify(e)) {
                throw e;
            }
            // Nothing of this trip was kept. Something is sent again because its answer was lost, or the notification,
            // which is only a hint, was refused.
            return write(connection, batch, true, false);
        }
    }

    /** @param firstTime whether to trust that no step and no new run is sent again, and that the transaction may notify */
    private Flush write(Connection connection, List<? extends Write> batch, boolean oneTrip, boolean firstTime)
            throws SQLException {
        var flush = new Flush(batch);
        var asked = flush.all(Write.Trigger.class);
        var triggered = new PostgresTriggers.Triggered();
        var pipeline = new Pipeline(database, batch.size() <= MAX_PER_TRIP);
        addFenced(pipeline, flush, firstTime);
        var newRuns = asked.writes().stream().map(Write.Trigger::newRun).toList();
        if (firstTime) {
            triggers.addNew(pipeline, asked.writes(), triggered);
        } else {
            triggers.addInserts(pipeline, newRuns, triggered);
        }
        var expected = firstTime && batch.size() <= SMALL ? triggers.expectedTopics(asked.writes()) : Set.<Integer>of();
        boolean tells = notifier.tryTellOnCommit(pipeline, expected);
        pipeline.run(connection);
        if (firstTime) {
            keepOthers(connection, flush);
        }
        if (tells && triggered.knows(newRuns)) { // what is created later is told later
            flush.told(expected);
        }
        triggers.settle(connection, newRuns, triggered);
        answerTriggers(flush, asked, triggered);
        if (!oneTrip && isRecorded(batch)) {
            events.append(connection, triggered.events());
            events.append(connection, flush.events());
            flush.recorded();
        }
        if (!oneTrip) {
            createDeadLetters(connection, flush);
            startChildren(connection, flush);
            endChildren(connection, flush);
        }
        explain(connection, flush);
        return flush;
    }

    private void addFenced(Pipeline pipeline, Flush flush, boolean firstTime) {
        var plainSteps = flush.all(Write.SaveStep.class, save -> firstTime && PostgresSteps.isPlain(save));
        if (!plainSteps.isEmpty()) {
            PostgresSteps.addPlain(pipeline, plainSteps);
        }
        var steps = flush.all(Write.SaveStep.class, save -> !(firstTime && PostgresSteps.isPlain(save)));
        if (!steps.isEmpty()) {
            PostgresSteps.addSteps(pipeline, steps);
            PostgresSteps.addCompensates(pipeline, steps.writes());
            PostgresSteps.addTaken(pipeline, steps.writes());
        }
        var attempts = flush.all(Write.SaveAttempt.class);
        if (!attempts.isEmpty()) {
            PostgresSteps.addAttempts(pipeline, attempts);
        }
        var finishes = flush.all(Write.Finish.class);
        if (!finishes.isEmpty()) {
            // One statement, in the order of the runs: heartbeats lock them in that order too.
            if (firstTime && finishes.writes().stream().allMatch(PostgresMoves::isPlain)) {
                PostgresMoves.addPlainFinishes(pipeline, flush, finishes);
            } else {
                PostgresMoves.addFinishes(pipeline, flush, finishes);
            }
            PostgresFamilies.addEnds(pipeline, flush, finishes.writes());
        }
        var parks = flush.all(Write.Park.class);
        if (!parks.isEmpty()) {
            PostgresMoves.addParks(pipeline, flush, parks);
        }
        var pauses = flush.all(Write.Pause.class);
        if (!pauses.isEmpty()) {
            PostgresMoves.addPauses(pipeline, flush, pauses);
        }
        var releases = flush.all(Write.Release.class);
        if (!releases.isEmpty()) {
            PostgresMoves.addReleases(pipeline, flush, releases);
        }
        PostgresSteps.addTrim(pipeline, attempts.writes(), parks.writes());
    }

    /** Some steps were not kept as plain ones: because something is asked of their runs, or the runs are somebody else's. */
    private void keepOthers(Connection connection, Flush flush) throws SQLException {
        var unknown = flush.unanswered(Write.SaveStep.class, PostgresSteps::isPlain);
        if (unknown.isEmpty()) {
            return;
        }
        run(connection, pipeline -> PostgresSteps.addKept(pipeline, unknown));
        var open = flush.unanswered(Write.SaveStep.class, PostgresSteps::isPlain);
        if (!open.isEmpty()) {
            run(connection, pipeline -> PostgresSteps.addSteps(pipeline, open));
        }
    }

    private void run(Connection connection, Consumer<Pipeline> add) throws SQLException {
        var pipeline = new Pipeline(database);
        add.accept(pipeline);
        pipeline.run(connection);
    }

    private static void answerTriggers(
            Flush flush, Flush.Kind<Write.Trigger> asked, PostgresTriggers.Triggered triggered) {
        for (int n = 1; n <= asked.writes().size(); n++) {
            asked.answer(n, triggered.of(asked.write(n).newRun()));
        }
        flush.ready(triggered.topics());
    }

    /** In the transaction of the finishes, and only for those that applied. */
    private void createDeadLetters(Connection connection, Flush flush) throws SQLException {
        var letters = new ArrayList<NewRun>();
        for (var finish : flush.answered(Write.Finish.class).writes()) {
            if (finish.deadLetter() != null) {
                letters.add(finish.deadLetter());
            }
        }
        if (!letters.isEmpty()) {
            flush.ready(triggers.create(connection, letters).topics());
        }
    }

    /** In the transaction of the steps, and only for those that are kept. */
    private void startChildren(Connection connection, Flush flush) throws SQLException {
        var children = new ArrayList<NewRun>();
        for (var save : flush.answered(Write.SaveStep.class).writes()) {
            if (save.child() != null) {
                children.add(save.child());
            }
        }
        if (children.isEmpty()) {
            return;
        }
        var started = triggers.create(connection, children);
        for (var child : children) {
            if (!started.of(child).accepted()) {
                throw Refusals.child(child);
            }
        }
        flush.ready(started.topics());
    }

    /** In the transaction of the finishes, and only for those that applied. */
    private void endChildren(Connection connection, Flush flush) {
        for (var finish : flush.answered(Write.Finish.class).writes()) {
            if (finish.endsChildren()) {
                var handle = database.handleOf(connection);
                families.endChildren(handle, finish.run(), database.now(handle), flush.effects());
            }
        }
    }

    /** Finds out why writes were not applied. */
    private void explain(Connection connection, Flush flush) throws SQLException {
        var open = flush.unanswered(Write.Fenced.class);
        if (open.isEmpty()) {
            return;
        }
        var sql = """
                SELECT CAST(u.n AS integer) AS n,
                       r.lease_epoch,
                       CAST(r.status AS varchar(255)) AS status,
                       r.cancel_requested
                  FROM unnest(CAST(:runs AS uuid[])) WITH ORDINALITY AS u (run_id, n)
                 CROSS JOIN LATERAL (
                       SELECT lease_epoch,
                              status,
                              cancel_requested_at IS NOT NULL AS cancel_requested
                         FROM steadwork.run
                        WHERE run.shard = :shard
                          AND run.run_id = u.run_id
                       OFFSET 0) AS r
                """;
        var values = Columns.of(open.writes())
                .with("shard", Shards.ONLY)
                .uuids("runs", write -> write.run().uuid())
                .values();
        for (int n = 1; n <= open.writes().size(); n++) {
            open.answer(n, Ack.NOT_FOUND);
        }
        new Pipeline(database)
                .add(sql, values, row -> {
                    int n = row.getInt("n");
                    var state = new State(
                            row.getLong("lease_epoch"),
                            RunStatus.valueOf(row.getString("status")),
                            row.getBoolean("cancel_requested"));
                    var answer = state.answer(open.write(n));
                    open.answer(n, answer);
                    if (answer == Ack.STORED && open.write(n) instanceof Write.Finish) {
                        flush.ended(open.write(n));
                    }
                })
                .run(connection);
    }

    /** How a run stands whose write was not applied. */
    private record State(long epoch, RunStatus status, boolean cancelRequested) {
        Ack answer(Write.Fenced write) {
            if (showsAlready(write)) {
                return Ack.STORED;
            }
            boolean held = epoch == write.epoch() && status == RunStatus.RUNNING;
            return held && cancelRequested ? Ack.REFUSED : Ack.LEASE_LOST;
        }

        /** Whether the write was applied before and is sent again because its answer was lost. */
        private boolean showsAlready(Write.Fenced write) {
            if (write instanceof Write.Release) {
                return epoch == write.epoch() + 1 && status == RunStatus.PENDING;
            }
            if (epoch != write.epoch()) {
                return false;
            }
            return write instanceof Write.Finish finish && status == finish.status()
                    || write instanceof Write.Park && isWaiting()
                    || write instanceof Write.Pause && isWaiting();
        }

        private boolean isWaiting() {
            return status == RunStatus.SLEEPING || status == RunStatus.PAUSED || status == RunStatus.PENDING;
        }
    }
}
