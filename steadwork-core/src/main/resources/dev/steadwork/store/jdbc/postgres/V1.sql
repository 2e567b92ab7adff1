-- One row is the queue entry and the record of a run. due_at says when it needs attention next:
-- ready since (PENDING), wakes at (SLEEPING, PAUSED), lease ends (RUNNING).
-- A column that has its default value is NULL, so that a common row stays small.
CREATE TABLE steadwork.run (
    shard               SMALLINT    NOT NULL,
    run_id              UUID        NOT NULL,
    namespace           TEXT        NOT NULL,
    type                TEXT        NOT NULL,
    queue               TEXT        NOT NULL,
    status              TEXT        NOT NULL,
    priority            INTEGER     NOT NULL,
    due_at              TIMESTAMPTZ,
    lease_epoch         BIGINT      NOT NULL DEFAULT 0,
    attempt             INTEGER     NOT NULL DEFAULT 1,
    lost_leases         INTEGER     NOT NULL DEFAULT 0,
    worker              TEXT,
    created_at          TIMESTAMPTZ NOT NULL,
    started_at          TIMESTAMPTZ,
    finished_at         TIMESTAMPTZ,
    paused_at           TIMESTAMPTZ,
    updated_at          TIMESTAMPTZ NOT NULL,
    deadline            TIMESTAMPTZ,
    cancel_requested_at TIMESTAMPTZ,
    pause_requested_at  TIMESTAMPTZ,
    idempotency_key     TEXT,
    key_policy          TEXT,
    version             TEXT,
    external_id         TEXT,
    parent_run_id       UUID,
    parent_step         TEXT,
    retry               TEXT,
    tags                TEXT,
    step_name           TEXT,
    step_since          TIMESTAMPTZ,
    error               TEXT,
    deleted_at          TIMESTAMPTZ,
    deleted_reason      TEXT,
    input_type          TEXT,
    input               BYTEA,
    output_type         TEXT,
    output              BYTEA,
    PRIMARY KEY (shard, run_id),
    CONSTRAINT run_status_known CHECK (status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'))
);

-- Claim order itself: a claim reads the head of this index and sorts nothing.
CREATE INDEX run_ready ON steadwork.run (shard, namespace, queue, priority DESC, due_at, run_id)
    WHERE status = 'PENDING' AND deleted_at IS NULL;

-- Due sleepers and expired leases.
CREATE INDEX run_timer ON steadwork.run (shard, namespace, queue, due_at)
    WHERE status IN ('SLEEPING', 'RUNNING') AND deleted_at IS NULL;

-- A key stands for one run: until the run is deleted (FOREVER) or has ended (WHILE_ACTIVE).
CREATE UNIQUE INDEX run_key ON steadwork.run (shard, namespace, idempotency_key)
    WHERE idempotency_key IS NOT NULL
      AND deleted_at IS NULL
      AND (key_policy = 'FOREVER' OR status IN ('PENDING', 'RUNNING', 'SLEEPING', 'PAUSED'));

-- The few runs that have a deadline and have not ended.
CREATE INDEX run_deadline ON steadwork.run (shard, namespace, deadline)
    WHERE deadline IS NOT NULL
      AND deleted_at IS NULL
      AND status IN ('PENDING', 'SLEEPING', 'PAUSED');

-- Rare columns and statuses, so that lists need no index that taxes every run.
CREATE INDEX run_external_id ON steadwork.run (shard, namespace, external_id, run_id) WHERE external_id IS NOT NULL;
CREATE INDEX run_parent ON steadwork.run (shard, parent_run_id, run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX run_failed ON steadwork.run (shard, namespace, run_id) WHERE status = 'FAILED';
CREATE INDEX run_paused ON steadwork.run (shard, namespace, run_id) WHERE status = 'PAUSED';

-- The outcome of a step; insert-only.
CREATE TABLE steadwork.step (
    shard       SMALLINT    NOT NULL,
    run_id      UUID        NOT NULL,
    name        TEXT        NOT NULL,
    occurrence  INTEGER     NOT NULL,
    position    INTEGER     NOT NULL,
    kind        TEXT        NOT NULL,
    status      TEXT        NOT NULL,
    attempt     INTEGER     NOT NULL,
    started_at  TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    wake_at     TIMESTAMPTZ,
    error       TEXT,
    input_type  TEXT,
    input       BYTEA,
    output_type TEXT,
    output      BYTEA,
    PRIMARY KEY (shard, run_id, name, occurrence),
    CONSTRAINT step_status_known CHECK (status IN ('COMPLETED', 'FAILED'))
);

-- Failed attempts of steps, apart from the outcome: a stale failure never collides with a success.
CREATE TABLE steadwork.step_attempt (
    shard       SMALLINT    NOT NULL,
    run_id      UUID        NOT NULL,
    name        TEXT        NOT NULL,
    occurrence  INTEGER     NOT NULL,
    attempt     INTEGER     NOT NULL,
    position    INTEGER     NOT NULL,
    kind        TEXT        NOT NULL,
    error       TEXT        NOT NULL,
    started_at  TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (shard, run_id, name, occurrence, attempt)
);

-- Workflow types that somebody registered, with their defaults.
CREATE TABLE steadwork.definition (
    namespace     TEXT        NOT NULL,
    type          TEXT        NOT NULL,
    queue         TEXT        NOT NULL,
    retry         TEXT,
    timeout_ms    BIGINT,
    lease_ms      BIGINT,
    dead_letter   TEXT,
    key_policy    TEXT        NOT NULL,
    registered_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (namespace, type)
);

CREATE TABLE steadwork.worker (
    namespace     TEXT        NOT NULL,
    worker_id     TEXT        NOT NULL,
    name          TEXT        NOT NULL,
    host          TEXT        NOT NULL,
    pid           BIGINT      NOT NULL,
    status        TEXT        NOT NULL,
    concurrency   INTEGER     NOT NULL,
    active        INTEGER     NOT NULL DEFAULT 0,
    completed     BIGINT      NOT NULL DEFAULT 0,
    failed        BIGINT      NOT NULL DEFAULT 0,
    queues        TEXT        NOT NULL,
    type_prefixes TEXT        NOT NULL,
    registered_at TIMESTAMPTZ NOT NULL,
    heartbeat_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (namespace, worker_id),
    CONSTRAINT worker_status_known CHECK (status IN ('ONLINE', 'DRAINING', 'OFFLINE'))
);

-- What each worker serves by exact type, for triggers that demand an online worker.
CREATE TABLE steadwork.worker_type (
    namespace TEXT NOT NULL,
    type      TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    PRIMARY KEY (namespace, type, worker_id)
);

-- Which of these files have been applied.
CREATE TABLE steadwork.schema_version (
    version    INTEGER     NOT NULL PRIMARY KEY,
    applied_at TIMESTAMPTZ NOT NULL
);

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (1, now());
