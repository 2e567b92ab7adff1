-- Numbers stand for the namespace and the queue, which are equal in most of what is compared on the way to a place in this index: a
-- comparison of two numbers costs a part of that of two names. Statements name both: two names may have the same number.
DROP INDEX steadwork.run_ready;
CREATE INDEX run_ready ON steadwork.run
    (hashtextextended(namespace, shard), hashtextextended(queue, 0), priority DESC, due_at, run_id)
    WITH (deduplicate_items = off)
    WHERE status = 'PENDING' AND deleted_at IS NULL;
ALTER INDEX steadwork.run_ready ALTER COLUMN 1 SET STATISTICS 10;
ALTER INDEX steadwork.run_ready ALTER COLUMN 2 SET STATISTICS 10;

INSERT INTO steadwork.schema_version (version, applied_at) VALUES (9, now());
