package dev.steadwork.store.jdbc;

import dev.steadwork.RunStatus;
import dev.steadwork.store.Ack;
import dev.steadwork.store.AttemptRecord;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Moves runs out of RUNNING, for the workers that hold them. {@code BETWEEN 1 AND 1000000}, true of every item, looks
 * selective to the planner: it then looks up each run by its primary key, whatever it knows or does not know of the table. Of
 * arrays that are taken apart in a list of columns it expects a thousand items, and so has to be told twice.
 */
final class PostgresMoves {
    private PostgresMoves() {}

    /** Whether the run has simply completed, as most do. */
    static boolean isPlain(Write.Finish finish) {
        return finish.status() == RunStatus.COMPLETED;
    }

    /** Ends of plain runs: all of them are answered if all were applied, otherwise none. */
    static void addPlainFinishes(Pipeline pipeline, Flush flush, Flush.Kind<Write.Finish> finishes) {
        // The arrays are taken apart in the list of columns: FROM would first put each into a table of its own.
        var sql = """
                UPDATE steadwork.run AS r
                   SET status = 'COMPLETED',
                       output_type = u.output_type,
                       output = u.output,
                       error = NULL,
                       finished_at = now(),
                       updated_at = now(),
                       due_at = NULL,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL
                  FROM (SELECT unnest((SELECT CAST(:runs AS uuid[]))) AS run_id,
                               unnest((SELECT CAST(:epochs AS bigint[]))) AS epoch,
                               unnest((SELECT CAST(:outputTypes AS text[]))) AS output_type,
                               unnest((SELECT CAST(:outputs AS bytea[]))) AS output,
                               generate_series(1, (SELECT CAST(:count AS integer))) AS n) AS u
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND u.epoch BETWEEN 0 AND 9223372036854775807
                   AND r.lease_epoch = u.epoch
                   AND r.status = 'RUNNING'
                   AND r.cancel_requested_at IS NULL
                """;
        var values = Columns.of(finishes.writes())
                .with("shard", Shards.ONLY)
                .with("count", finishes.writes().size())
                .uuids("runs", finish -> finish.run().uuid())
                .longs("epochs", Write.Finish::epoch)
                .texts("outputTypes", finish -> Rows.payloadType(finish.output()))
                .bytes("outputs", finish -> Rows.payloadBytes(finish.output()))
                .values();
        pipeline.addUpdate(sql, values, count -> {
            if (count == finishes.writes().size()) {
                finishes.answerAll(Ack.STORED);
                finishes.writes().forEach(flush::ended);
            }
        });
    }

    static void addFinishes(Pipeline pipeline, Flush flush, Flush.Kind<Write.Finish> finishes) {
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now)
                UPDATE steadwork.run AS r
                   SET status = u.status,
                       output_type = u.output_type,
                       output = u.output,
                       error = u.error,
                       finished_at = clock.now,
                       updated_at = clock.now,
                       due_at = NULL,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL
                  FROM clock
                 CROSS JOIN unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[])),
                           (SELECT CAST(:statuses AS text[])),
                           (SELECT CAST(:errors AS text[])),
                           (SELECT CAST(:outputTypes AS text[])),
                           (SELECT CAST(:outputs AS bytea[]))) WITH ORDINALITY
                    AS u (run_id, epoch, status, error, output_type, output, n)
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND r.lease_epoch = u.epoch
                   AND r.status = 'RUNNING'
                   AND (r.cancel_requested_at IS NULL OR u.status = 'CANCELLED')
                RETURNING CAST(u.n AS integer) AS n
                """;
        var values = Columns.of(finishes.writes())
                .with("shard", Shards.ONLY)
                .uuids("runs", finish -> finish.run().uuid())
                .longs("epochs", Write.Finish::epoch)
                .texts("statuses", finish -> finish.status().name())
                .texts(
                        "errors",
                        finish -> finish.status() == RunStatus.COMPLETED ? null : Rows.errorJson(finish.error()))
                .texts("outputTypes", finish -> Rows.payloadType(finish.output()))
                .bytes("outputs", finish -> Rows.payloadBytes(finish.output()))
                .values();
        pipeline.add(sql, values, row -> {
            int n = row.getInt("n");
            finishes.answer(n, Ack.STORED);
            flush.ended(finishes.write(n));
        });
    }

    static void addParks(Pipeline pipeline, Flush flush, Flush.Kind<Write.Park> parks) {
        // The sleep is kept by the statement that parks the run: there is no moment in which only one of them is true.
        // A run with a message that its worker has not seen does not sleep: whoever sent it found the run awake.
        var sql = """
                WITH clock AS MATERIALIZED (
                         SELECT now() AS now,
                                now() + interval '60 seconds' AS soon),
                     asked AS MATERIALIZED (
                         SELECT u.*,
                                coalesce(
                                    timestamptz 'epoch' + u.wake_at * interval '1 microsecond',
                                    clock.now + u.wake_after * interval '1 microsecond') AS wake
                           FROM clock
                          CROSS JOIN unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:wakeAts AS bigint[])),
                                    (SELECT CAST(:wakeAfters AS bigint[])),
                                    (SELECT CAST(:runAttempts AS integer[])),
                                    (SELECT CAST(:runErrors AS text[])),
                                    (SELECT CAST(:names AS text[])),
                                    (SELECT CAST(:occurrences AS integer[])),
                                    (SELECT CAST(:positions AS integer[])),
                                    (SELECT CAST(:kinds AS text[])),
                                    (SELECT CAST(:statuses AS text[])),
                                    (SELECT CAST(:attempts AS integer[])),
                                    (SELECT CAST(:startedAts AS bigint[])),
                                    (SELECT CAST(:finishedAts AS bigint[])),
                                    (SELECT CAST(:errors AS text[])),
                                    (SELECT CAST(:inputTypes AS text[])),
                                    (SELECT CAST(:inputs AS bytea[])),
                                    (SELECT CAST(:outputTypes AS text[])),
                                    (SELECT CAST(:outputs AS bytea[])),
                                    (SELECT CAST(:failedNames AS text[])),
                                    (SELECT CAST(:failedOccurrences AS integer[])),
                                    (SELECT CAST(:failedPositions AS integer[])),
                                    (SELECT CAST(:failedKinds AS text[])),
                                    (SELECT CAST(:failedAttempts AS integer[])),
                                    (SELECT CAST(:failedStartedAts AS bigint[])),
                                    (SELECT CAST(:failedFinishedAts AS bigint[])),
                                    (SELECT CAST(:failedErrors AS text[])),
                                    (SELECT CAST(:awaits AS text[])),
                                    (SELECT CAST(:seens AS integer[]))) WITH ORDINALITY
                             AS u (run_id, epoch, wake_at, wake_after, run_attempt, run_error, name, occurrence, position, kind,
                                   status, attempt, started_at, finished_at, error, input_type, input, output_type, output,
                                   failed_name, failed_occurrence, failed_position, failed_kind, failed_attempt,
                                   failed_started_at, failed_finished_at, failed_error, awaits, seen, n)),
                     parked AS (
                         UPDATE steadwork.run AS r
                            SET status = CASE WHEN r.pause_requested_at IS NOT NULL THEN 'PAUSED'
                                              WHEN coalesce(r.inbox, 0) > asked.seen THEN 'PENDING'
                                              ELSE 'SLEEPING' END,
                                paused_at = CASE WHEN r.pause_requested_at IS NULL THEN NULL ELSE clock.now END,
                                pause_requested_at = NULL,
                                due_at = CASE WHEN coalesce(r.inbox, 0) > asked.seen THEN clock.now
                                              ELSE least(asked.wake, r.deadline) END,
                                awaits = asked.awaits,
                                attempt = asked.run_attempt,
                                error = asked.run_error,
                                updated_at = clock.now,
                                worker = NULL,
                                step_name = NULL,
                                step_since = NULL
                           FROM asked
                          CROSS JOIN clock
                          WHERE r.shard = :shard
                            AND r.run_id = asked.run_id
                            AND asked.n BETWEEN 1 AND 1000000
                            AND r.lease_epoch = asked.epoch
                            AND r.status = 'RUNNING'
                            AND r.cancel_requested_at IS NULL
                         RETURNING asked.n, r.namespace, r.queue, r.status, r.due_at),
                     slept AS (
                         INSERT INTO steadwork.step
                             (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at,
                              error, input_type, input, output_type, output)
                         SELECT CAST(:shard AS smallint),
                                a.run_id,
                                a.name,
                                a.occurrence,
                                a.position,
                                a.kind,
                                a.status,
                                a.attempt,
                                timestamptz 'epoch' + a.started_at * interval '1 microsecond',
                                timestamptz 'epoch' + a.finished_at * interval '1 microsecond',
                                a.wake,
                                a.error,
                                a.input_type,
                                a.input,
                                a.output_type,
                                a.output
                           FROM parked
                           JOIN asked AS a USING (n)
                          WHERE a.name IS NOT NULL
                         ON CONFLICT DO NOTHING),
                     failed AS (
                         INSERT INTO steadwork.step_attempt
                             (shard, run_id, name, occurrence, attempt, position, kind, error, started_at, finished_at)
                         SELECT CAST(:shard AS smallint),
                                a.run_id,
                                a.failed_name,
                                a.failed_occurrence,
                                a.failed_attempt,
                                a.failed_position,
                                a.failed_kind,
                                a.failed_error,
                                timestamptz 'epoch' + a.failed_started_at * interval '1 microsecond',
                                timestamptz 'epoch' + a.failed_finished_at * interval '1 microsecond'
                           FROM parked
                           JOIN asked AS a USING (n)
                          WHERE a.failed_name IS NOT NULL
                         ON CONFLICT DO NOTHING)
                SELECT CAST(parked.n AS integer) AS n,
                       CAST(parked.namespace AS varchar(255)) AS namespace,
                       CAST(parked.queue AS varchar(255)) AS queue,
                       parked.status <> 'PAUSED' AS sleeping,
                       parked.due_at <= clock.soon AS soon
                  FROM parked
                 CROSS JOIN clock
                """;
        var columns = Columns.of(parks.writes())
                .with("shard", Shards.ONLY)
                .uuids("runs", park -> park.run().uuid())
                .longs("epochs", Write.Park::epoch)
                .times("wakeAts", park -> park.wake().at())
                .durations("wakeAfters", park -> park.wake().after())
                .ints("runAttempts", Write.Park::attempt)
                .texts("runErrors", park -> Rows.errorJson(park.error()))
                .texts("awaits", of(Write.Park::awaits, Write.Awaits::message))
                .ints("seens", of(Write.Park::awaits, Write.Awaits::seen));
        addSleep(columns);
        addFailedAttempt(columns);
        pipeline.add(sql, columns.values(), row -> {
            boolean sleeping = row.getBoolean("sleeping");
            parks.answer(row.getInt("n"), new Ack(Ack.Outcome.STORED, false, !sleeping));
            if (sleeping && row.getBoolean("soon")) {
                flush.ready(row.getString("namespace"), row.getString("queue"));
            } else if (sleeping) {
                flush.parked(row.getString("namespace"), row.getString("queue"));
            }
        });
    }

    private static void addSleep(Columns<Write.Park> columns) {
        Function<Write.Park, @Nullable StepRecord> sleep = Write.Park::sleep;
        columns.texts("names", of(sleep, step -> step.key().name()))
                .ints("occurrences", of(sleep, step -> step.key().occurrence()))
                .ints("positions", of(sleep, step -> step.key().position()))
                .texts("kinds", of(sleep, step -> step.kind().name()))
                .texts("statuses", of(sleep, step -> step.status().name()))
                .ints("attempts", of(sleep, StepRecord::attempt))
                .times("startedAts", of(sleep, StepRecord::startedAt))
                .times("finishedAts", of(sleep, StepRecord::finishedAt))
                .texts("errors", of(sleep, step -> Rows.errorJson(step.error())))
                .texts("inputTypes", of(sleep, step -> Rows.payloadType(step.input())))
                .bytes("inputs", of(sleep, step -> Rows.payloadBytes(step.input())))
                .texts("outputTypes", of(sleep, step -> Rows.payloadType(step.output())))
                .bytes("outputs", of(sleep, step -> Rows.payloadBytes(step.output())));
    }

    private static void addFailedAttempt(Columns<Write.Park> columns) {
        Function<Write.Park, @Nullable AttemptRecord> failed = Write.Park::failedAttempt;
        columns.texts("failedNames", of(failed, attempt -> attempt.key().name()))
                .ints("failedOccurrences", of(failed, attempt -> attempt.key().occurrence()))
                .ints("failedPositions", of(failed, attempt -> attempt.key().position()))
                .texts("failedKinds", of(failed, attempt -> attempt.kind().name()))
                .ints("failedAttempts", of(failed, AttemptRecord::attempt))
                .times("failedStartedAts", of(failed, AttemptRecord::startedAt))
                .times("failedFinishedAts", of(failed, AttemptRecord::finishedAt))
                .texts("failedErrors", of(failed, attempt -> Rows.errorJson(attempt.error())));
    }

    static void addPauses(Pipeline pipeline, Flush flush, Flush.Kind<Write.Pause> pauses) {
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now)
                UPDATE steadwork.run AS r
                   SET status = CASE WHEN r.pause_requested_at IS NULL THEN 'PENDING' ELSE 'PAUSED' END,
                       paused_at = CASE WHEN r.pause_requested_at IS NULL THEN NULL ELSE clock.now END,
                       pause_requested_at = NULL,
                       due_at = clock.now,
                       updated_at = clock.now,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL
                  FROM clock
                 CROSS JOIN unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[]))) WITH ORDINALITY
                    AS u (run_id, epoch, n)
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND r.lease_epoch = u.epoch
                   AND r.status = 'RUNNING'
                   AND r.cancel_requested_at IS NULL
                RETURNING CAST(u.n AS integer) AS n,
                          CAST(r.namespace AS varchar(255)) AS namespace,
                          CAST(r.queue AS varchar(255)) AS queue,
                          r.status = 'PENDING' AS ready
                """;
        pipeline.add(sql, fence(pauses), row -> {
            boolean ready = row.getBoolean("ready");
            pauses.answer(row.getInt("n"), new Ack(Ack.Outcome.STORED, false, !ready));
            if (ready) {
                flush.ready(row.getString("namespace"), row.getString("queue"));
            }
        });
    }

    static void addReleases(Pipeline pipeline, Flush flush, Flush.Kind<Write.Release> releases) {
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now)
                UPDATE steadwork.run AS r
                   SET status = 'PENDING',
                       lease_epoch = r.lease_epoch + 1,
                       due_at = clock.now,
                       updated_at = clock.now,
                       worker = NULL,
                       step_name = NULL,
                       step_since = NULL
                  FROM clock
                 CROSS JOIN unnest(
                           (SELECT CAST(:runs AS uuid[])),
                           (SELECT CAST(:epochs AS bigint[]))) WITH ORDINALITY
                    AS u (run_id, epoch, n)
                 WHERE r.shard = :shard
                   AND r.run_id = u.run_id
                   AND u.n BETWEEN 1 AND 1000000
                   AND r.lease_epoch = u.epoch
                   AND r.status = 'RUNNING'
                RETURNING CAST(u.n AS integer) AS n,
                          CAST(r.namespace AS varchar(255)) AS namespace,
                          CAST(r.queue AS varchar(255)) AS queue
                """;
        pipeline.add(sql, fence(releases), row -> {
            releases.answer(row.getInt("n"), Ack.STORED);
            flush.ready(row.getString("namespace"), row.getString("queue"));
        });
    }

    private static Map<String, Object> fence(Flush.Kind<? extends Write.Fenced> kind) {
        return Columns.of(List.<Write.Fenced>copyOf(kind.writes()))
                .with("shard", Shards.ONLY)
                .uuids("runs", write -> write.run().uuid())
                .longs("epochs", Write.Fenced::epoch)
                .values();
    }

    private static <W, P, V> Function<W, @Nullable V> of(
            Function<W, @Nullable P> part, Function<P, @Nullable V> column) {
        return write -> {
            P present = part.apply(write);
            return present == null ? null : column.apply(present);
        };
    }
}
