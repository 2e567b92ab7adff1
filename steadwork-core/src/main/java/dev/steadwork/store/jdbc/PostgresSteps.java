package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Keeps outcomes of steps and failed attempts, for workers that still hold the run. */
final class PostgresSteps {
    private PostgresSteps() {}

    static void addSteps(Pipeline pipeline, Flush.Kind<Write.SaveStep> saves) {
        // The row lock lets no promotion slip in between the look at the epoch and the commit of the step. It is
        // exclusive: two share locks on one row would cost a multixact. Each item looks up its run by itself, so that
        // neither missing nor old statistics talk the planner out of the primary key.
        var sql = """
                WITH held AS MATERIALIZED (
                         SELECT u.*, r.cancel_requested, r.pause_requested
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:names AS text[])),
                                    (SELECT CAST(:occurrences AS integer[])),
                                    (SELECT CAST(:positions AS integer[])),
                                    (SELECT CAST(:kinds AS text[])),
                                    (SELECT CAST(:statuses AS text[])),
                                    (SELECT CAST(:attempts AS integer[])),
                                    (SELECT CAST(:startedAts AS bigint[])),
                                    (SELECT CAST(:finishedAts AS bigint[])),
                                    (SELECT CAST(:wakeAts AS bigint[])),
                                    (SELECT CAST(:errors AS text[])),
                                    (SELECT CAST(:inputTypes AS text[])),
                                    (SELECT CAST(:inputs AS bytea[])),
                                    (SELECT CAST(:outputTypes AS text[])),
                                    (SELECT CAST(:outputs AS bytea[])),
                                    (SELECT CAST(:children AS uuid[]))) WITH ORDINALITY
                             AS u (run_id, epoch, name, occurrence, position, kind, status, attempt, started_at, finished_at,
                                   wake_at, error, input_type, input, output_type, output, child_run_id, n)
                          CROSS JOIN LATERAL (
                               SELECT cancel_requested_at IS NOT NULL AS cancel_requested,
                                      pause_requested_at IS NOT NULL AS pause_requested
                                 FROM steadwork.run
                                WHERE run.shard = :shard
                                  AND run.run_id = u.run_id
                                  AND run.lease_epoch = u.epoch
                                  AND run.status = 'RUNNING'
                                  FOR NO KEY UPDATE) AS r),
                     kept AS (
                         INSERT INTO steadwork.step
                             (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at,
                              error, input_type, input, output_type, output, child_run_id)
                         SELECT CAST(:shard AS smallint),
                                run_id,
                                name,
                                occurrence,
                                position,
                                kind,
                                status,
                                attempt,
                                timestamptz 'epoch' + started_at * interval '1 microsecond',
                                timestamptz 'epoch' + finished_at * interval '1 microsecond',
                                timestamptz 'epoch' + wake_at * interval '1 microsecond',
                                error,
                                input_type,
                                input,
                                output_type,
                                output,
                                child_run_id
                           FROM held
                         ON CONFLICT (shard, run_id, name, occurrence) DO UPDATE
                            SET status = excluded.status,
                                attempt = excluded.attempt,
                                started_at = coalesce(step.started_at, excluded.started_at),
                                finished_at = excluded.finished_at,
                                error = excluded.error,
                                output_type = excluded.output_type,
                                output = excluded.output
                          WHERE step.status = 'WAITING')
                SELECT CAST(n AS integer) AS n, cancel_requested, pause_requested
                  FROM held
                """;
        var values = Columns.of(saves.writes())
                .with("shard", Shards.ONLY)
                .uuids("runs", save -> save.run().uuid())
                .longs("epochs", Write.SaveStep::epoch)
                .texts("names", save -> save.step().key().name())
                .ints("occurrences", save -> save.step().key().occurrence())
                .ints("positions", save -> save.step().key().position())
                .texts("kinds", save -> save.step().kind().name())
                .texts("statuses", save -> save.step().status().name())
                .ints("attempts", save -> save.step().attempt())
                .times("startedAts", save -> save.step().startedAt())
                .times("finishedAts", save -> save.step().finishedAt())
                .times("wakeAts", save -> save.step().wakeAt())
                .texts("errors", save -> Rows.errorJson(save.step().error()))
                .texts("inputTypes", save -> Rows.payloadType(save.step().input()))
                .bytes("inputs", save -> Rows.payloadBytes(save.step().input()))
                .texts("outputTypes", save -> Rows.payloadType(save.step().output()))
                .bytes("outputs", save -> Rows.payloadBytes(save.step().output()))
                .uuids("children", save -> uuid(save.step().childRun()))
                .values();
        pipeline.add(sql, values, row -> saves.answer(row.getInt("n"), stored(row)));
    }

    /** Whether it is the outcome of a plain step, as most are, which nobody can have kept before unless it is sent again. */
    static boolean isPlain(Write.SaveStep save) {
        var step = save.step();
        return step.kind() == StepKind.FUNCTION
                && step.status() == StepStatus.COMPLETED
                && step.error() == null
                && step.wakeAt() == null
                && step.childRun() == null
                && step.input().equals(Payload.NONE)
                && save.child() == null
                && save.signal() == null;
    }

    /**
     * The same for plain steps that are sent for the first time, of runs of which nothing is asked: fails as a whole if one of them
     * is there. All of them are answered if all were kept, otherwise none.
     */
    static void addPlain(Pipeline pipeline, Flush.Kind<Write.SaveStep> saves) {
        // The arrays are taken apart in the list of columns: FROM would first put each into a table of its own.
        var sql = """
                INSERT INTO steadwork.step
                    (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, output_type, output)
                SELECT CAST(:shard AS smallint),
                       u.run_id,
                       u.name,
                       coalesce(u.occurrence, 1),
                       u.position,
                       'FUNCTION',
                       'COMPLETED',
                       coalesce(u.attempt, 1),
                       u.started_at,
                       u.finished_at,
                       u.output_type,
                       u.output
                  FROM (SELECT unnest((SELECT CAST(:runs AS uuid[]))) AS run_id,
                               unnest((SELECT CAST(:epochs AS bigint[]))) AS epoch,
                               unnest((SELECT CAST(:names AS text[]))) AS name,
                               unnest((SELECT CAST(:occurrences AS integer[]))) AS occurrence,
                               unnest((SELECT CAST(:positions AS integer[]))) AS position,
                               unnest((SELECT CAST(:attempts AS integer[]))) AS attempt,
                               unnest((SELECT CAST(:startedAts AS timestamptz[]))) AS started_at,
                               unnest((SELECT CAST(:finishedAts AS timestamptz[]))) AS finished_at,
                               unnest((SELECT CAST(:outputTypes AS text[]))) AS output_type,
                               unnest((SELECT CAST(:outputs AS bytea[]))) AS output) AS u
                 CROSS JOIN LATERAL (
                       SELECT
                         FROM steadwork.run
                        WHERE run.shard = :shard
                          AND run.run_id = u.run_id
                          AND run.lease_epoch = u.epoch
                          AND run.status = 'RUNNING'
                          AND run.cancel_requested_at IS NULL
                          AND run.pause_requested_at IS NULL
                          FOR NO KEY UPDATE) AS held
                """;
        var values = plainColumns(saves.writes())
                .ints("attempts", save -> unlessFirst(save.step().attempt()))
                .texts("outputTypes", save -> Rows.payloadType(save.step().output()))
                .values();
        pipeline.addUpdate(sql, values, count -> {
            if (count == saves.writes().size()) {
                saves.answerAll(Ack.STORED);
            }
        });
    }

    /**
     * Answers those of plain steps that were kept after all, when others of their batch were not. One that was kept is told so even if
     * its lease has ended since.
     */
    static void addKept(Pipeline pipeline, Flush.Kind<Write.SaveStep> saves) {
        // Its times, to the microsecond, tell a step from that of the next worker, whatever became of the run since.
        var sql = """
                SELECT CAST(u.n AS integer) AS n,
                       coalesce(asked.cancel_requested, false) AS cancel_requested,
                       coalesce(asked.pause_requested, false) AS pause_requested
                  FROM unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[])),
                           (SELECT CAST(:names AS text[])),
                           (SELECT CAST(:occurrences AS integer[])),
                           (SELECT CAST(:positions AS integer[])),
                           (SELECT CAST(:startedAts AS timestamptz[])),
                           (SELECT CAST(:finishedAts AS timestamptz[])),
                           (SELECT CAST(:outputs AS bytea[]))) WITH ORDINALITY
                    AS u (run_id, epoch, name, occurrence, position, started_at, finished_at, output, n)
                 CROSS JOIN LATERAL (
                       SELECT
                         FROM steadwork.step AS s
                        WHERE s.shard = :shard
                          AND s.run_id = u.run_id
                          AND s.name = u.name
                          AND s.occurrence = coalesce(u.occurrence, 1)
                          AND s.position = u.position
                          AND s.started_at IS NOT DISTINCT FROM u.started_at
                          AND s.finished_at IS NOT DISTINCT FROM u.finished_at
                          AND s.output IS NOT DISTINCT FROM u.output
                       OFFSET 0) AS kept
                  LEFT JOIN LATERAL (
                       SELECT cancel_requested_at IS NOT NULL AS cancel_requested,
                              pause_requested_at IS NOT NULL AS pause_requested
                         FROM steadwork.run
                        WHERE run.shard = :shard
                          AND run.run_id = u.run_id
                          AND run.lease_epoch = u.epoch
                       OFFSET 0) AS asked
                    ON true
                """;
        pipeline.add(sql, plainColumns(saves.writes()).values(), row -> saves.answer(row.getInt("n"), stored(row)));
    }

    private static Columns<Write.SaveStep> plainColumns(List<Write.SaveStep> saves) {
        return Columns.of(saves)
                .with("shard", Shards.ONLY)
                .uuids("runs", save -> save.run().uuid())
                .longs("epochs", Write.SaveStep::epoch)
                .texts("names", save -> save.step().key().name())
                .ints("occurrences", save -> unlessFirst(save.step().key().occurrence()))
                .ints("positions", save -> save.step().key().position())
                .instants("startedAts", save -> save.step().startedAt())
                .instants("finishedAts", save -> save.step().finishedAt())
                .bytes("outputs", save -> Rows.payloadBytes(save.step().output()));
    }

    private static @Nullable Integer unlessFirst(int number) {
        return number == 1 ? null : (Integer) number;
    }

    private static @Nullable UUID uuid(@Nullable RunId run) {
        return run == null ? null : run.uuid();
    }

    /** Marks runs that register undo steps, if some do. */
    static void addCompensates(Pipeline pipeline, List<Write.SaveStep> saves) {
        // After the statement that keeps the steps, which has locked those runs that the writers still hold.
        var sql = """
                UPDATE steadwork.run AS r
                   SET compensates = true
                  FROM unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[]))) WITH ORDINALITY
                    AS u (run_id, epoch, n)
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND r.lease_epoch = u.epoch
                   AND r.status = 'RUNNING'
                   AND r.compensates IS NULL
                """;
        var registering = saves.stream()
                .filter(save -> save.step().kind() == StepKind.UNDO)
                .toList();
        if (!registering.isEmpty()) {
            pipeline.add(sql, fence(registering).values(), row -> {});
        }
    }

    /** Removes the signals that steps take, if some do. */
    static void addTaken(Pipeline pipeline, List<Write.SaveStep> saves) {
        var sql = """
                DELETE FROM steadwork.signal AS s
                 USING unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[])),
                           (SELECT CAST(:numbers AS integer[])))
                    AS u (run_id, epoch, number)
                 WHERE s.shard = :shard
                   AND s.run_id = u.run_id
                   AND s.number = u.number
                   AND EXISTS (
                       SELECT FROM steadwork.run AS r
                        WHERE r.shard = :shard
                          AND r.run_id = u.run_id
                          AND r.lease_epoch = u.epoch
                          AND r.status = 'RUNNING')
                """;
        var taking = saves.stream().filter(save -> save.signal() != null).toList();
        if (!taking.isEmpty()) {
            var values = fence(taking).ints("numbers", Write.SaveStep::signal).values();
            pipeline.add(sql, values, row -> {});
        }
    }

    private static Columns<Write.SaveStep> fence(List<Write.SaveStep> saves) {
        return Columns.of(saves)
                .with("shard", Shards.ONLY)
                .uuids("runs", save -> save.run().uuid())
                .longs("epochs", Write.SaveStep::epoch);
    }

    static void addAttempts(Pipeline pipeline, Flush.Kind<Write.SaveAttempt> saves) {
        var sql = """
                WITH held AS MATERIALIZED (
                         SELECT u.*, r.cancel_requested, r.pause_requested
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:names AS text[])),
                                    (SELECT CAST(:occurrences AS integer[])),
                                    (SELECT CAST(:positions AS integer[])),
                                    (SELECT CAST(:kinds AS text[])),
                                    (SELECT CAST(:attempts AS integer[])),
                                    (SELECT CAST(:startedAts AS bigint[])),
                                    (SELECT CAST(:finishedAts AS bigint[])),
                                    (SELECT CAST(:errors AS text[]))) WITH ORDINALITY
                             AS u (run_id, epoch, name, occurrence, position, kind, attempt, started_at, finished_at, error, n)
                          CROSS JOIN LATERAL (
                               SELECT cancel_requested_at IS NOT NULL AS cancel_requested,
                                      pause_requested_at IS NOT NULL AS pause_requested
                                 FROM steadwork.run
                                WHERE run.shard = :shard
                                  AND run.run_id = u.run_id
                                  AND run.lease_epoch = u.epoch
                                  AND run.status = 'RUNNING'
                                  FOR NO KEY UPDATE) AS r),
                     kept AS (
                         INSERT INTO steadwork.step_attempt
                             (shard, run_id, name, occurrence, attempt, position, kind, error, started_at, finished_at)
                         SELECT CAST(:shard AS smallint),
                                run_id,
                                name,
                                occurrence,
                                attempt,
                                position,
                                kind,
                                error,
                                timestamptz 'epoch' + started_at * interval '1 microsecond',
                                timestamptz 'epoch' + finished_at * interval '1 microsecond'
                           FROM held
                         ON CONFLICT DO NOTHING)
                SELECT CAST(n AS integer) AS n, cancel_requested, pause_requested
                  FROM held
                """;
        var values = Columns.of(saves.writes())
                .with("shard", Shards.ONLY)
                .uuids("runs", save -> save.run().uuid())
                .longs("epochs", Write.SaveAttempt::epoch)
                .texts("names", save -> save.attempt().key().name())
                .ints("occurrences", save -> save.attempt().key().occurrence())
                .ints("positions", save -> save.attempt().key().position())
                .texts("kinds", save -> save.attempt().kind().name())
                .ints("attempts", save -> save.attempt().attempt())
                .times("startedAts", save -> save.attempt().startedAt())
                .times("finishedAts", save -> save.attempt().finishedAt())
                .texts("errors", save -> Rows.errorJson(save.attempt().error()))
                .values();
        pipeline.add(sql, values, row -> saves.answer(row.getInt("n"), stored(row)));
    }

    /** Removes what the attempts push out of the last hundred, if they do. */
    static void addTrim(Pipeline pipeline, List<Write.SaveAttempt> saves, List<Write.Park> parks) {
        // Needs no fence: whoever writes an attempt, one that is so much older is not wanted any more.
        var sql = """
                DELETE FROM steadwork.step_attempt AS old
                 USING unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:names AS text[])),
                           (SELECT CAST(:occurrences AS integer[])),
                           (SELECT CAST(:attempts AS integer[])))
                    AS u (run_id, name, occurrence, attempt)
                 WHERE old.shard = :shard
                   AND old.run_id = u.run_id
                   AND old.name = u.name
                   AND old.occurrence = u.occurrence
                   AND old.attempt = u.attempt
                """;
        record Old(UUID run, StepRecord.Key key, int attempt) {}
        var old = new ArrayList<Old>();
        for (var save : saves) {
            old.add(new Old(
                    save.run().uuid(), save.attempt().key(), save.attempt().attempt() - AttemptRecord.KEPT));
        }
        for (var park : parks) {
            var failed = park.failedAttempt();
            if (failed != null) {
                old.add(new Old(park.run().uuid(), failed.key(), failed.attempt() - AttemptRecord.KEPT));
            }
        }
        old.removeIf(one -> one.attempt < 1);
        if (!old.isEmpty()) {
            var values = Columns.of(old)
                    .with("shard", Shards.ONLY)
                    .uuids("runs", Old::run)
                    .texts("names", one -> one.key.name())
                    .ints("occurrences", one -> one.key.occurrence())
                    .ints("attempts", Old::attempt)
                    .values();
            pipeline.add(sql, values, row -> {});
        }
    }

    private static Ack stored(ResultSet row) throws SQLException {
        boolean cancelRequested = row.getBoolean("cancel_requested");
        boolean pauseRequested = row.getBoolean("pause_requested");
        return cancelRequested || pauseRequested
                ? new Ack(Ack.Outcome.STORED, cancelRequested, pauseRequested)
                : Ack.STORED;
    }
}
