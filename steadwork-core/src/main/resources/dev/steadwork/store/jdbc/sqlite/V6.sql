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

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
