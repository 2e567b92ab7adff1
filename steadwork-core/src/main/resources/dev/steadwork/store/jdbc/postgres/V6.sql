-- Settings of namespaces. One that has no row works with the defaults.
-- keep_*: for how long runs are kept after they ended or were deleted, in microseconds; NULL is for ever.
-- version: raised with every change of any row, so that a process learns from one value whether it knows all of them.
CREATE TABLE steadwork.namespace (
    namespace      TEXT        NOT NULL PRIMARY KEY,
    version        BIGINT      NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    disabled_at    TIMESTAMPTZ,
    keep_completed BIGINT,
    keep_failed    BIGINT,
    keep_cancelled BIGINT,
    keep_deleted   BIGINT,
    audit          BOOLEAN     NOT NULL,
    outbox         TEXT,
    warn_bytes     INTEGER,
    max_bytes      INTEGER,
    retry          TEXT
);

CREATE UNIQUE INDEX namespace_version ON steadwork.namespace (version);

-- What happened to runs of namespaces that record it. number: in the order of the changes of a run, which its row lock makes that
-- of their commits. lease_epoch: of the worker's write, which is recorded once however often it is sent.
CREATE TABLE steadwork.event (
    shard       SMALLINT    NOT NULL,
    run_id      UUID        NOT NULL,
    number      BIGINT      GENERATED ALWAYS AS IDENTITY,
    namespace   TEXT        NOT NULL,
    type        TEXT        NOT NULL,
    kind        TEXT        NOT NULL,
    happened_at TIMESTAMPTZ NOT NULL,
    lease_epoch BIGINT,
    worker      TEXT,
    step        TEXT,
    attempt     INTEGER,
    detail      TEXT,
    actor       TEXT,
    reason      TEXT,
    PRIMARY KEY (shard, run_id, number)
);

-- For what is looked up of a run with each of its events, however many it has.
CREATE INDEX event_leased ON steadwork.event (shard, run_id, lease_epoch) WHERE kind = 'leased';
CREATE INDEX event_step ON steadwork.event (shard, run_id, lease_epoch, step) WHERE step IS NOT NULL;

-- Events on their way out. due_at: when the next attempt may begin; while somebody sends it, the end of that lease.
CREATE TABLE steadwork.outbox (
    shard       SMALLINT    NOT NULL,
    run_id      UUID        NOT NULL,
    number      BIGINT      GENERATED ALWAYS AS IDENTITY,
    namespace   TEXT        NOT NULL,
    type        TEXT        NOT NULL,
    kind        TEXT        NOT NULL,
    happened_at TIMESTAMPTZ NOT NULL,
    lease_epoch BIGINT,
    worker      TEXT,
    step        TEXT,
    attempt     INTEGER,
    detail      TEXT,
    actor       TEXT,
    reason      TEXT,
    status      TEXT        NOT NULL CHECK (status IN ('WAITING', 'PUBLISHED', 'DEAD')),
    due_at      TIMESTAMPTZ NOT NULL,
    sender      TEXT,
    failures    INTEGER     NOT NULL,
    error       TEXT,
    settled_at  TIMESTAMPTZ,
    PRIMARY KEY (shard, run_id, number)
);

-- The primary key also holds what was published in the last days.
CREATE INDEX outbox_waiting ON steadwork.outbox (shard, run_id, number) WHERE status = 'WAITING';
CREATE INDEX outbox_step ON steadwork.outbox (shard, run_id, lease_epoch, step) WHERE step IS NOT NULL;
CREATE INDEX outbox_due ON steadwork.outbox (shard, namespace, due_at) WHERE status = 'WAITING';
CREATE INDEX outbox_published ON steadwork.outbox (shard, namespace, settled_at) WHERE status = 'PUBLISHED';
CREATE INDEX outbox_dead ON steadwork.outbox (shard, namespace, number) WHERE status = 'DEAD';

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, now());
