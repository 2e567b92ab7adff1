-- Schedules.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (4, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
