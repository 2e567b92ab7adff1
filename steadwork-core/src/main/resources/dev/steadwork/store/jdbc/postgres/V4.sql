-- Schedules.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (4, now());
