package dev.steadwork.store.jdbc;

/** By the numbers of namespaces and queues, which the index of ready runs has, and by their names, of which two may have one number. */
final class PostgresQueueStatements implements QueueStatements {
    @Override
    public String selectBusyQueues() {
        // Of two queues with one number it finds one, until that is empty.
        return """
                WITH RECURSIVE ready (number, queue) AS (
                         (SELECT hashtextextended(queue, 0), queue
                            FROM steadwork.run
                           WHERE shard = :shard
                             AND hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard)
                             AND namespace = :namespace
                             AND status = 'PENDING'
                             AND deleted_at IS NULL
                           ORDER BY hashtextextended(queue, 0)
                           LIMIT 1)
                         UNION ALL
                         SELECT following.number, following.queue
                           FROM ready
                          CROSS JOIN LATERAL (
                                SELECT hashtextextended(queue, 0) AS number, queue
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard)
                                   AND hashtextextended(queue, 0) > ready.number
                                   AND namespace = :namespace
                                   AND status = 'PENDING'
                                   AND deleted_at IS NULL
                                 ORDER BY hashtextextended(queue, 0)
                                 LIMIT 1) AS following),
                     timed (queue) AS (
                         SELECT (SELECT queue
                                   FROM steadwork.run
                                  WHERE shard = :shard
                                    AND namespace = :namespace
                                    AND status IN ('SLEEPING', 'RUNNING')
                                    AND deleted_at IS NULL
                                  ORDER BY queue
                                  LIMIT 1)
                         UNION ALL
                         SELECT (SELECT queue
                                   FROM steadwork.run
                                  WHERE shard = :shard
                                    AND namespace = :namespace
                                    AND queue > timed.queue
                                    AND status IN ('SLEEPING', 'RUNNING')
                                    AND deleted_at IS NULL
                                  ORDER BY queue
                                  LIMIT 1)
                           FROM timed
                          WHERE timed.queue IS NOT NULL)
                SELECT queue FROM ready
                UNION
                SELECT queue FROM timed WHERE queue IS NOT NULL
                """;
    }

    @Override
    public String countQueue() {
        return """
                SELECT found.part, found.status, found.type, count(*) AS runs, min(found.due_at) AS due_at
                  FROM (SELECT *
                          FROM (SELECT 'ready' AS part, status, type, due_at
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard)
                                   AND hashtextextended(queue, 0) = hashtextextended(:queue, 0)
                                   AND namespace = :namespace
                                   AND queue = :queue
                                   AND status = 'PENDING'
                                   AND deleted_at IS NULL
                                 ORDER BY priority DESC, due_at, run_id
                                 LIMIT :limit) AS ready
                        UNION ALL
                        SELECT *
                          FROM (SELECT 'timed' AS part, status, type, due_at
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND namespace = :namespace
                                   AND queue = :queue
                                   AND status IN ('SLEEPING', 'RUNNING')
                                   AND deleted_at IS NULL
                                   AND due_at IS NOT NULL
                                 ORDER BY due_at
                                 LIMIT :limit) AS timed
                        UNION ALL
                        SELECT *
                          FROM (SELECT 'untimed' AS part, status, type, due_at
                                  FROM steadwork.run
                                 WHERE shard = :shard
                                   AND namespace = :namespace
                                   AND queue = :queue
                                   AND status IN ('SLEEPING', 'RUNNING')
                                   AND deleted_at IS NULL
                                   AND due_at IS NULL
                                 LIMIT :limit) AS untimed) AS found
                 GROUP BY found.part, found.status, found.type
                """;
    }

    @Override
    public String selectFirst() {
        return """
                SELECT run_id
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard)
                   AND hashtextextended(queue, 0) = hashtextextended(:queue, 0)
                   AND namespace = :namespace
                   AND queue = :queue
                   AND status = 'PENDING'
                   AND deleted_at IS NULL
                 ORDER BY priority DESC, due_at, run_id
                 LIMIT 1
                """;
    }

    @Override
    public String countAhead() {
        return """
                SELECT count(*)
                  FROM (SELECT priority, due_at, run_id
                          FROM steadwork.run
                         WHERE shard = :shard
                           AND hashtextextended(namespace, shard) = hashtextextended(:namespace, :shard)
                           AND hashtextextended(queue, 0) = hashtextextended(:queue, 0)
                           AND namespace = :namespace
                           AND queue = :queue
                           AND status = 'PENDING'
                           AND deleted_at IS NULL
                         ORDER BY priority DESC, due_at, run_id
                         LIMIT :limit) AS head
                 WHERE head.priority > :priority
                    OR (head.priority = :priority AND head.due_at < :due)
                    OR (head.priority = :priority AND head.due_at = :due AND head.run_id < :run)
                """;
    }
}
