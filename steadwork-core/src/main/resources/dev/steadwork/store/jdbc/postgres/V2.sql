-- Messages, children and undo steps. As before, a column that has its default value is NULL.
--   inbox             how many messages (signals, ends of children) the run has had
--   awaits            the message that wakes the run while it sleeps; '*' is any
--   compensates       true once undo steps are registered
--   depth             how many ancestors it has
--   ends_with_parent  true if it is cancelled when its parent ends otherwise than by completing
ALTER TABLE steadwork.run
    ADD COLUMN inbox            INTEGER,
    ADD COLUMN awaits           TEXT,
    ADD COLUMN compensates      BOOLEAN,
    ADD COLUMN depth            INTEGER,
    ADD COLUMN ends_with_parent BOOLEAN;

-- A step may wait for a signal or a child, or be an undo step that is only registered; its row is then completed once.
ALTER TABLE steadwork.step
    ADD COLUMN child_run_id UUID,
    DROP CONSTRAINT step_status_known,
    ADD CONSTRAINT step_status_known CHECK (status IN ('WAITING', 'COMPLETED', 'FAILED'));

-- Signals that were sent and not taken yet.
CREATE TABLE steadwork.signal (
    shard        SMALLINT    NOT NULL,
    run_id       UUID        NOT NULL,
    number       INTEGER     NOT NULL,
    name         TEXT        NOT NULL,
    sent_at      TIMESTAMPTZ NOT NULL,
    payload_type TEXT,
    payload      BYTEA,
    PRIMARY KEY (shard, run_id, number)
);

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (2, now());
