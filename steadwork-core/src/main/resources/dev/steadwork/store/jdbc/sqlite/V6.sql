-- Settings of namespaces. One that has no row works with the defaults.
-- keep_*: for how long runs are kept after they ended or were deleted, in microseconds; NULL is for ever.
-- version: raised with every change of any row, so that a process learns from one value whether it knows all of them.
CREATE TABLE steadwork.namespace (
    namespace      TEXT    NOT NULL PRIMARY KEY,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    disabled_at    INTEGER,
    keep_completed INTEGER,
    keep_failed    INTEGER,
    keep_cancelled INTEGER,
    keep_deleted   INTEGER,
    audit          INTEGER NOT NULL,
    outbox         TEXT,
    warn_bytes     INTEGER,
    max_bytes      INTEGER,
    retry          TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX steadwork.namespace_version ON steadwork.namespace (version);

-- What happened to runs of namespaces that record it. number: in the order of the changes of a run, which its row lock makes that
-- of their commits. lease_epoch: of the worker's write, which is recorded once however often it is sent.
CREATE TABLE steadwork.event (
    shard       INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    number      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace   TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    happened_at INTEGER NOT NULL,
    lease_epoch INTEGER,
    worker      TEXT,
    step        TEXT,
    attempt     INTEGER,
    detail      TEXT,
    actor       TEXT,
    reason      TEXT
) STRICT;

CREATE INDEX steadwork.event_run ON steadwork.event (shard, run_id, number);
CREATE INDEX steadwork.event_leased ON steadwork.event (shard, run_id, lease_epoch) WHERE kind = 'leased';

-- Events on their way out. due_at: when the next attempt may begin; while somebody sends it, the end of that lease.
CREATE TABLE steadwork.outbox (
    shard       INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    number      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace   TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    happened_at INTEGER NOT NULL,
    lease_epoch INTEGER,
    worker      TEXT,
    step        TEXT,
    attempt     INTEGER,
    detail      TEXT,
    actor       TEXT,
    reason      TEXT,
    status      TEXT    NOT NULL CHECK (status IN ('WAITING', 'PUBLISHED', 'DEAD')),
    due_at      INTEGER NOT NULL,
    sender      TEXT,
    failures    INTEGER NOT NULL,
    error       TEXT,
    settled_at  INTEGER
) STRICT;

CREATE INDEX steadwork.outbox_run ON steadwork.outbox (shard, run_id, number);
CREATE INDEX steadwork.outbox_waiting ON steadwork.outbox (shard, run_id, number) WHERE status = 'WAITING';
CREATE INDEX steadwork.outbox_due ON steadwork.outbox (shard, namespace, due_at) WHERE status = 'WAITING';
CREATE INDEX steadwork.outbox_published ON steadwork.outbox (shard, namespace, settled_at) WHERE status = 'PUBLISHED';
CREATE INDEX steadwork.outbox_dead ON steadwork.outbox (shard, namespace, number) WHERE status = 'DEAD';

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
