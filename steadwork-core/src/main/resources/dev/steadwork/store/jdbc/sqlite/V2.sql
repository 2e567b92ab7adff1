-- Messages, children and undo steps. As before, a column that has its default value is NULL.
--   inbox             how many messages (signals, ends of children) the run has had
--   awaits            the message that wakes the run while it sleeps; '*' is any
--   compensates       true once undo steps are registered
--   depth             how many ancestors it has
--   ends_with_parent  true if it is cancelled when its parent ends otherwise than by completing
ALTER TABLE steadwork.run ADD COLUMN inbox INTEGER;
ALTER TABLE steadwork.run ADD COLUMN awaits TEXT;
ALTER TABLE steadwork.run ADD COLUMN compensates INTEGER;
ALTER TABLE steadwork.run ADD COLUMN depth INTEGER;
ALTER TABLE steadwork.run ADD COLUMN ends_with_parent INTEGER;

-- A step may wait for a signal or a child, or be an undo step that is only registered; its row is then completed once.
-- SQLite cannot change a CHECK, so the table is made anew.
CREATE TABLE steadwork.step_with_children (
    shard        INTEGER NOT NULL,
    run_id       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    occurrence   INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    attempt      INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    wake_at      INTEGER,
    error        TEXT,
    input_type   TEXT,
    input        BLOB,
    output_type  TEXT,
    output       BLOB,
    child_run_id TEXT,
    PRIMARY KEY (shard, run_id, name, occurrence),
    CONSTRAINT step_status_known CHECK (status IN ('WAITING', 'COMPLETED', 'FAILED'))
) STRICT, WITHOUT ROWID;

INSERT INTO steadwork.step_with_children
    (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at, error,
     input_type, input, output_type, output)
SELECT shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, wake_at, error,
       input_type, input, output_type, output
  FROM steadwork.step;

DROP TABLE steadwork.step;

ALTER TABLE steadwork.step_with_children RENAME TO steadwork.step;

-- Signals that were sent and not taken yet.
CREATE TABLE steadwork.signal (
    shard        INTEGER NOT NULL,
    run_id       TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    sent_at      INTEGER NOT NULL,
    payload_type TEXT,
    payload      BLOB,
    PRIMARY KEY (shard, run_id, number)
) STRICT, WITHOUT ROWID;

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (2, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
