-- Nothing: what a comparison costs is a matter of Postgres.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (9, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
