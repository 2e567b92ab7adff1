-- What is known of workers.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (5, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
