-- Schedules. due_at says when the schedule needs attention next: its next slot plus jitter. NULL: never, because it is disabled,
-- has no more slots or could not be read (then last_error says why), so only those that will fire are in the index.
-- buffered_slot waits for the end of last_run_id. jitter is in microseconds. revision counts changes by people.
CREATE TABLE steadwork.schedule (
    shard         INTEGER NOT NULL,
    namespace     TEXT    NOT NULL,
    schedule_id   TEXT    NOT NULL,
    type          TEXT    NOT NULL,
    demand        TEXT    NOT NULL,
    queue         TEXT,
    priority      INTEGER NOT NULL,
    version       TEXT,
    tags          TEXT,
    input_type    TEXT,
    input         BLOB,
    cron          TEXT    NOT NULL,
    zone          TEXT    NOT NULL,
    max_catchup   INTEGER NOT NULL,
    overlap       TEXT    NOT NULL,
    jitter        INTEGER NOT NULL,
    enabled       INTEGER NOT NULL,
    next_slot     INTEGER,
    due_at        INTEGER,
    buffered_slot INTEGER,
    last_slot     INTEGER,
    last_run_id   TEXT,
    last_error    TEXT,
    revision      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (shard, namespace, schedule_id),
    CONSTRAINT schedule_demand_known CHECK (demand IN ('REQUIRE_REGISTERED', 'REQUIRE_ONLINE', 'ACCEPT')),
    CONSTRAINT schedule_overlap_known CHECK (overlap IN ('ALLOW', 'SKIP', 'BUFFER_ONE', 'CANCEL_RUNNING'))
) STRICT;

CREATE INDEX steadwork.schedule_due ON steadwork.schedule (shard, namespace, due_at, schedule_id) WHERE due_at IS NOT NULL;
CREATE INDEX steadwork.schedule_buffered ON steadwork.schedule (shard, namespace) WHERE buffered_slot IS NOT NULL;

-- What became of a slot; stays when the schedule is deleted. Whoever writes here has locked the schedule.
CREATE TABLE steadwork.schedule_firing (
    shard         INTEGER NOT NULL,
    namespace     TEXT    NOT NULL,
    schedule_id   TEXT    NOT NULL,
    slot          INTEGER NOT NULL,
    outcome       TEXT    NOT NULL,
    cause         TEXT    NOT NULL,
    run_id        TEXT,
    error         TEXT,
    decided_at    INTEGER NOT NULL,
    PRIMARY KEY (shard, namespace, schedule_id, slot),
    CONSTRAINT schedule_firing_outcome_known CHECK (outcome IN ('FIRED', 'SKIPPED', 'BUFFERED', 'FAILED')),
    CONSTRAINT schedule_firing_cause_known CHECK (cause IN ('CRON', 'TRIGGER', 'BACKFILL'))
) STRICT, WITHOUT ROWID;

-- For retention.
CREATE INDEX steadwork.schedule_firing_decided ON steadwork.schedule_firing (shard, namespace, decided_at);

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (4, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
