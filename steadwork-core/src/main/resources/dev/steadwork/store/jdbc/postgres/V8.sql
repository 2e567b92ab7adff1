-- The id first, because it tells two runs apart: a look-up compares one column on its way down, not two of which one is always equal.
ALTER TABLE steadwork.run
    DROP CONSTRAINT run_pkey,
    ADD CONSTRAINT run_pkey PRIMARY KEY (run_id, shard);

ALTER TABLE steadwork.step
    DROP CONSTRAINT step_pkey,
    ADD CONSTRAINT step_pkey PRIMARY KEY (run_id, shard, name, occurrence);

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (8, now());
