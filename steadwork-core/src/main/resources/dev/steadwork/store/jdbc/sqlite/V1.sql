-- One row is the queue entry and the record of a run. due_at says when it needs attention next:
-- ready since (PENDING), wakes at (SLEEPING, PAUSED), lease ends (RUNNING).
-- Times are microseconds since 1970.
-- A column that has its default value is NULL, so that a common row stays small.
CREATE TABLE steadwork.run (
    shard               INTEGER NOT NULL,
    run_id              TEXT    NOT NULL,
    namespace           TEXT    NOT NULL,
    type                TEXT    NOT NULL,
    queue               TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    priority            INTEGER NOT NULL,
    due_at              INTEGER,
    lease_epoch         INTEGER NOT NULL DEFAULT 0,
    attempt             INTEGER NOT NULL DEFAULT 1,
    lost_leases         INTEGER NOT NULL DEFAULT 0,
    worker              TEXT,
    created_at          INTEGER NOT NULL,
    started_at          INTEGER,
    finished_at         INTEGER,
    paused_at           INTEGER,
    updated_at          INTEGER NOT NULL,
    deadline            INTEGER,
    cancel_requested_at INTEGER,
    pause_requested_at  INTEGER,
    idempotency_key     TEXT,
    key_policy          TEXT,
    version             TEXT,
    external_id         TEXT,
    parent_run_id       TEXT,
    parent_step         TEXT,
    retry               TEXT,
    tags                TEXT,
    step_name           TEXT,
    step_since          INTEGER,
    error               TEXT,
    deleted_at          INTEGER,
    deleted_reason      TEXT,
    input_type          TEXT,
    input               BLOB,
    output_type         TEXT,
    output              BLOB,
    PRIMARY KEY (shard, run_id),
    CONSTRAINT run_status_known CHECK (status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'))
) STRICT;

-- Claim order itself: a claim reads the head of this index and sorts nothing.
CREATE INDEX steadwork.run_ready ON steadwork.run (shard, namespace, queue, priority DESC, due_at, run_id)
    WHERE status = 'PENDING' AND deleted_at IS NULL;

-- Due sleepers and expired leases.
CREATE INDEX steadwork.run_timer ON steadwork.run (shard, namespace, queue, due_at)
    WHERE status IN ('SLEEPING', 'RUNNING') AND deleted_at IS NULL;

-- A key stands for one run: until the run is deleted (FOREVER) or has ended (WHILE_ACTIVE).
CREATE UNIQUE INDEX steadwork.run_key ON steadwork.run (shard, namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL
      AND deleted_at IS NULL
      AND (key_policy = 'FOREVER' OR status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED'));

-- The few runs that have a deadline and have not ended.
CREATE INDEX steadwork.run_deadline ON steadwork.run (shard, namespace, deadline)
    WHERE deadline IS NOT NULL
      AND deleted_at IS NULL
      AND status IN ('PENDING', 'SLEEPING', 'PAUSED');

-- Rare columns and statuses, so that lists need no index that taxes every run.
CREATE INDEX steadwork.run_external_id ON steadwork.run (shard, namespace, external_id, run_id) WHERE external_id IS NOT NULL;
CREATE INDEX steadwork.run_parent ON steadwork.run (shard, parent_run_id, run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX steadwork.run_failed ON steadwork.run (shard, namespace, run_id) WHERE status = 'FAILED';
CREATE INDEX steadwork.run_paused ON steadwork.run (shard, namespace, run_id) WHERE status = 'PAUSED';

-- The outcome of a step; insert-only.
CREATE TABLE steadwork.step (
    shard       INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    occurrence  INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    started_at  INTEGER,
    finished_at INTEGER,
    wake_at     INTEGER,
    error       TEXT,
    input_type  TEXT,
    input       BLOB,
    output_type TEXT,
    output      BLOB,
    PRIMARY KEY (shard, run_id, name, occurrence),
    CONSTRAINT step_status_known CHECK (status IN ('COMPLETED', 'FAILED'))
) STRICT, WITHOUT ROWID;

-- Failed attempts of steps, apart from the outcome: a stale failure never collides with a success.
CREATE TABLE steadwork.step_attempt (
    shard       INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    occurrence  INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    error       TEXT    NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    PRIMARY KEY (shard, run_id, name, occurrence, attempt)
) STRICT, WITHOUT ROWID;

-- Workflow types that somebody registered, with their defaults.
CREATE TABLE steadwork.definition (
    namespace     TEXT    NOT NULL,
    type          TEXT    NOT NULL,
    queue         TEXT    NOT NULL,
    retry         TEXT,
    timeout_ms    INTEGER,
    lease_ms      INTEGER,
    dead_letter   TEXT,
    key_policy    TEXT    NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE steadwork.worker (
    namespace     TEXT    NOT NULL,
    worker_id     TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    host          TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    status        TEXT    NOT NULL,
    concurrency   INTEGER NOT NULL,
    active        INTEGER NOT NULL DEFAULT 0,
    completed     INTEGER NOT NULL DEFAULT 0,
    failed        INTEGER NOT NULL DEFAULT 0,
    queues        TEXT    NOT NULL,
    type_prefixes TEXT    NOT NULL,
    registered_at INTEGER NOT NULL,
    heartbeat_at  INTEGER NOT NULL,
    PRIMARY KEY (namespace, worker_id),
    CONSTRAINT worker_status_known CHECK (status IN ('ONLINE', 'DRAINING', 'OFFLINE'))
) STRICT, WITHOUT ROWID;

-- What each worker serves by exact type, for triggers that demand an online worker.
CREATE TABLE steadwork.worker_type (
    namespace TEXT NOT NULL,
    type      TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    PRIMARY KEY (namespace, type, worker_id)
) STRICT, WITHOUT ROWID;

-- Which of these files have been applied.
CREATE TABLE steadwork.schema_version (
    version    INTEGER NOT NULL PRIMARY KEY,
    applied_at INTEGER NOT NULL
) STRICT;

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (1, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
