-- Nothing: how indexes are packed and what is known of columns is a matter of Postgres.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (7, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
