package dev.steadwork.store.jdbc;

import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Write;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends of many children at once: a fan-in of a thousand costs a few statements. */
final class PostgresFamilies {
    private PostgresFamilies() {}

    private record End(Write.Finish finish, RunInfo.Parent parent, StepRecord.Key step, String label) {}

    /** Keeps the ends of children in the steps of their parents, and wakes those that wait for them. */
    static void addEnds(Pipeline pipeline, Flush flush, List<Write.Finish> finishes) {
        // After the statement that ends the runs: one that it did not end is not told.
        // In the order of the parents, as all statements that change several runs.
        var sql = """
                WITH clock AS MATERIALIZED (SELECT now() AS now),
                     ended AS MATERIALIZED (
                         SELECT u.*
                           FROM unnest(
                                    (SELECT CAST(:runs AS uuid[])),
                                    (SELECT CAST(:epochs AS bigint[])),
                                    (SELECT CAST(:runStatuses AS text[])),
                                    (SELECT CAST(:parents AS uuid[])),
                                    (SELECT CAST(:names AS text[])),
                                    (SELECT CAST(:occurrences AS integer[])),
                                    (SELECT CAST(:messages AS text[])),
                                    (SELECT CAST(:statuses AS text[])),
                                    (SELECT CAST(:errors AS text[])),
                                    (SELECT CAST(:outputTypes AS text[])),
                                    (SELECT CAST(:outputs AS bytea[]))) WITH ORDINALITY
                             AS u (run_id, epoch, run_status, parent_run_id, name, occurrence, message, status, error,
                                   output_type, output, n)
                          CROSS JOIN LATERAL (
                                SELECT
                                  FROM steadwork.run AS r
                                 WHERE r.shard = :shard
                                   AND r.run_id = u.run_id
                                   AND r.lease_epoch = u.epoch
                                   AND r.status = u.run_status
                                OFFSET 0) AS applied),
                     kept AS (
                         UPDATE steadwork.step AS s
                            SET status = ended.status,
                                error = ended.error,
                                output_type = ended.output_type,
                                output = ended.output,
                                finished_at = clock.now
                           FROM ended
                          CROSS JOIN clock
                          WHERE s.shard = :shard
                            AND s.run_id = ended.parent_run_id
                            AND s.name = ended.name
                            AND s.occurrence = ended.occurrence
                            AND s.child_run_id = ended.run_id
                            AND s.status = 'WAITING'
                            AND ended.n BETWEEN 1 AND 1000000
                         RETURNING s.run_id, ended.message),
                     told AS MATERIALIZED (
                         SELECT run_id,
                                CAST(count(*) AS integer) AS messages,
                                array_agg(message) || '*'::text AS names,
                                row_number() OVER (ORDER BY run_id) AS n
                           FROM kept
                          GROUP BY run_id
                          ORDER BY run_id),
                     woken AS (
                         UPDATE steadwork.run AS r
                            SET inbox = coalesce(r.inbox, 0) + told.messages,
                                status = CASE WHEN r.status = 'SLEEPING' AND r.awaits = ANY(told.names) THEN 'PENDING'
                                              ELSE r.status END,
                                due_at = CASE WHEN r.status IN ('SLEEPING', 'PAUSED') AND r.awaits = ANY(told.names) THEN clock.now
                                              ELSE r.due_at END
                           FROM told
                          CROSS JOIN clock
                          WHERE r.shard = :shard
                            AND r.run_id = told.run_id
                            AND told.n BETWEEN 1 AND 1000000
                            AND r.status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED')
                         RETURNING r.namespace, r.queue, r.status)
                SELECT CAST(namespace AS varchar(255)) AS namespace,
                       CAST(queue AS varchar(255)) AS queue
                  FROM woken
                 WHERE status = 'PENDING'
                """;
        var ends = ends(finishes);
        if (ends.isEmpty()) {
            return;
        }
        var values = Columns.of(ends)
                .with("shard", Shards.ONLY)
                .uuids("runs", end -> end.finish.run().uuid())
                .longs("epochs", end -> end.finish.epoch())
                .texts("runStatuses", end -> end.finish.status().name())
                .uuids("parents", end -> end.parent.run().uuid())
                .texts("names", end -> end.step.name())
                .ints("occurrences", end -> end.step.occurrence())
                .texts("messages", end -> Write.Awaits.child(end.label))
                .texts("statuses", end -> isCompleted(end) ? "COMPLETED" : "FAILED")
                .texts("errors", PostgresFamilies::error)
                .texts("outputTypes", end -> Rows.payloadType(end.finish.output()))
                .bytes("outputs", end -> Rows.payloadBytes(end.finish.output()))
                .values();
        pipeline.add(sql, values, row -> flush.ready(row.getString("namespace"), row.getString("queue")));
    }

    private static List<End> ends(List<Write.Finish> finishes) {
        var ends = new ArrayList<End>();
        for (var finish : finishes) {
            var parent = finish.parent();
            var label = parent == null ? null : parent.step();
            if (parent != null && label != null) {
                ends.add(new End(finish, parent, StepRecord.Key.ofLabel(label), label));
            }
        }
        return ends;
    }

    private static boolean isCompleted(End end) {
        return end.finish.status() == RunStatus.COMPLETED;
    }

    private static @Nullable String error(End end) {
        if (isCompleted(end)) {
            return null;
        }
        var error = end.finish.error();
        return Rows.errorJson(error == null ? Families.cancelled(end.finish.run()) : error);
    }
}
