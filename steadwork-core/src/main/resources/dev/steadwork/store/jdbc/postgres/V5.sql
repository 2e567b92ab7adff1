-- What is known of workers: who they are beyond their names, and what was asked of them.
ALTER TABLE steadwork.worker ADD COLUMN build_version TEXT;
ALTER TABLE steadwork.worker ADD COLUMN versions TEXT;
ALTER TABLE steadwork.worker ADD COLUMN labels TEXT;
ALTER TABLE steadwork.worker ADD COLUMN drain_requested_at TIMESTAMPTZ;

-- What one worker serves.
CREATE INDEX worker_type_of ON steadwork.worker_type (namespace, worker_id);

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (5, now());
