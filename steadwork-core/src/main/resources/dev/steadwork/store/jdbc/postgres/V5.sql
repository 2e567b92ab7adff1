-- What is known of workers.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (5, now());
