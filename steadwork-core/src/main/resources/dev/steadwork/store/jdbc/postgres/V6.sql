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

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, now());
