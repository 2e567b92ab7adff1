-- Namespaces, events and the outbox.
INSERT INTO steadwork.schema_version (version, applied_at) VALUES (6, now());
