-- Nothing: the order of the keys is a matter of Postgres.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (8, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
