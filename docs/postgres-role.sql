-- A role for the processes that trigger and execute runs. It reads and changes rows and may neither create nor alter anything.
-- Run this as the owner of the tables, after the schema was migrated, with names of your own in place of steadwork (the schema),
-- steadwork_app (the role) and the password. Open with migrate(false) in processes that use the role.
CREATE ROLE steadwork_app LOGIN PASSWORD 'change-me';

GRANT USAGE ON SCHEMA steadwork TO steadwork_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA steadwork TO steadwork_app;

-- Which migrations were applied is none of its business to change.
REVOKE INSERT, UPDATE, DELETE ON steadwork.schema_version FROM steadwork_app;

-- Tables that a later migration adds.
ALTER DEFAULT PRIVILEGES IN SCHEMA steadwork GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO steadwork_app;
