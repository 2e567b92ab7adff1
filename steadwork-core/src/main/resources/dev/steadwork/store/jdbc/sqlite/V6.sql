-- Namespaces, events and the outbox.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
