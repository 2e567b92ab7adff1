-- Limits over the whole fleet. Who sets none pays nothing: the new columns are NULL and the new indexes empty.
-- limited: claimed under the limit of its queue. Whoever holds such a run is counted, whoever does not use limits is not.
ALTER TABLE steadwork.run ADD COLUMN concurrency_key TEXT;
ALTER TABLE steadwork.run ADD COLUMN limited INTEGER;

-- Claim order within a key: the next key that waits is one step away, however many runs of a key wait.
CREATE INDEX steadwork.run_ready_key ON steadwork.run (shard, namespace, queue, concurrency_key, priority DESC, due_at, run_id)
    WHERE status = 'PENDING' AND deleted_at IS NULL AND concurrency_key IS NOT NULL;

-- What executes under a limit, by key.
CREATE INDEX steadwork.run_limited ON steadwork.run (shard, namespace, queue, concurrency_key)
    WHERE status = 'RUNNING' AND limited;

-- The limit of a queue; a column that is NULL limits nothing. Times are in microseconds. next_key: the key that had the last
-- turn.
CREATE TABLE steadwork.queue_limit (
    shard       INTEGER NOT NULL,
    namespace   TEXT    NOT NULL,
    queue       TEXT    NOT NULL,
    max_running INTEGER,
    max_per_key INTEGER,
    rate_count  INTEGER,
    rate_period INTEGER,
    next_key    TEXT    NOT NULL,
    PRIMARY KEY (shard, namespace, queue)
) STRICT, WITHOUT ROWID;

-- The claims of a queue with a rate, within its period. total: starts up to and with this one, so that the starts of any span
-- are the difference of two rows.
CREATE TABLE steadwork.queue_start (
    shard      INTEGER NOT NULL,
    namespace  TEXT    NOT NULL,
    queue      TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    starts     INTEGER NOT NULL,
    PRIMARY KEY (shard, namespace, queue, started_at, total)
) STRICT, WITHOUT ROWID;

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (3, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
