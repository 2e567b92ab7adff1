package dev.steadwork.store.jdbc;

import dev.steadwork.Finding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.result.RowView;

/** What may be wrong with a Postgres that Steadwork lives in. Reads only what every user may read. */
final class PostgresProbes {
    private static final long OLD_TRANSACTION_SECONDS = 5 * 60;
    private static final long VERY_OLD_TRANSACTION_SECONDS = 60 * 60;
    private static final long IDLE_SECONDS = 60;
    private static final long MANY_DEAD_ROWS = 10_000;
    private static final long BIG_TABLE_ROWS = 1_000_000;
    private static final long BIG_INDEX_BYTES = 16L * 1024 * 1024;

    /** More than twice what the longest of our entries needs. */
    private static final long FAT_ENTRY_BYTES = 400;

    private static final String TOO_FEW_RIGHTS =
            " Only sessions of this user were seen: its rights do not reach further. Grant it pg_read_all_stats for more.";

    private final Database database;

    PostgresProbes(Database database) {
        this.database = database;
    }

    Map<String, Probe> all() {
        var probes = new LinkedHashMap<String, Probe>();
        probes.put("oldest transaction", this::oldestTransaction);
        probes.put("idle in transaction", this::idleInTransaction);
        probes.put("dead rows", this::deadRows);
        probes.put("autovacuum", this::autovacuum);
        probes.put("statistics", this::statistics);
        probes.put("index size", this::indexSize);
        return probes;
    }

    private String rights() {
        boolean seesAll = database.read(
                handle -> handle.createQuery("SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')")
                        .mapTo(Boolean.class)
                        .one());
        return seesAll ? "" : TOO_FEW_RIGHTS;
    }

    private List<Finding> oldestTransaction(String check) {
        var sql = """
                SELECT pid,
                       CAST(extract(epoch FROM clock_timestamp() - xact_start) AS bigint) AS seconds,
                       coalesce(state, 'unknown') AS state,
                       coalesce(application_name, '') AS application
                  FROM pg_stat_activity
                 WHERE datname = current_database()
                   AND pid <> pg_backend_pid()
                   AND backend_type = 'client backend'
                   AND xact_start IS NOT NULL
                 ORDER BY xact_start
                 LIMIT 1
                """;
        var oldest = database.read(handle -> handle.createQuery(sql)
                .map(row -> new Session(
                        row.getColumn("pid", Integer.class),
                        row.getColumn("seconds", Long.class),
                        row.getColumn("state", String.class),
                        row.getColumn("application", String.class)))
                .findOne());
        if (oldest.isEmpty()) {
            return List.of(Finding.ok(check, "No transaction is open." + rights()));
        }
        var session = oldest.get();
        var seen = "The oldest transaction is %d s old: %s.%s".formatted(session.seconds, session, rights());
        var advice =
                "Nothing that changed since then can be cleaned up, and every claim reads past it. End the session with SELECT pg_terminate_backend(%d), or set idle_in_transaction_session_timeout."
                        .formatted(session.pid);
        if (session.seconds > VERY_OLD_TRANSACTION_SECONDS) {
            return List.of(Finding.bad(check, seen, advice));
        }
        return List.of(
                session.seconds > OLD_TRANSACTION_SECONDS
                        ? Finding.warn(check, seen, advice)
                        : Finding.ok(check, seen));
    }

    private record Session(int pid, long seconds, String state, String application) {
        @Override
        public String toString() {
            return "process %d (%s, %s)".formatted(pid, state, application.isEmpty() ? "no name" : application);
        }
    }

    private List<Finding> idleInTransaction(String check) {
        var sql = """
                SELECT count(*)
                  FROM pg_stat_activity
                 WHERE datname = current_database()
                   AND state LIKE 'idle in transaction%'
                   AND state_change < clock_timestamp() - :seconds * interval '1 second'
                """;
        long idle = database.read(handle -> handle.createQuery(sql)
                .bind("seconds", IDLE_SECONDS)
                .mapTo(Long.class)
                .one());
        var seen = "%d sessions have left a transaction open for longer than %d s.%s"
                .formatted(idle, IDLE_SECONDS, rights());
        return List.of(
                idle == 0
                        ? Finding.ok(check, seen)
                        : Finding.warn(
                                check,
                                seen,
                                "Find the code that forgets to commit, and set idle_in_transaction_session_timeout."));
    }

    private record Table(String name, long live, long dead, boolean analysed, boolean vacuumOff) {}

    private List<Table> tables() {
        var sql = """
                SELECT s.relname AS name,
                       s.n_live_tup AS live,
                       s.n_dead_tup AS dead,
                       s.last_analyze IS NOT NULL OR s.last_autoanalyze IS NOT NULL OR c.reltuples > 0 AS analysed,
                       coalesce('autovacuum_enabled=false' = ANY(c.reloptions)
                                OR 'autovacuum_enabled=off' = ANY(c.reloptions), false) AS vacuum_off
                  FROM pg_stat_user_tables AS s
                  JOIN pg_class AS c
                    ON c.oid = s.relid
                 WHERE s.schemaname = :schema
                 ORDER BY s.relname
                """;
        return database.read(handle -> handle.createQuery(sql)
                .bind("schema", database.schema())
                .map(PostgresProbes::table)
                .list());
    }

    private static Table table(RowView row) {
        return new Table(
                row.getColumn("name", String.class),
                row.getColumn("live", Long.class),
                row.getColumn("dead", Long.class),
                row.getColumn("analysed", Boolean.class),
                row.getColumn("vacuum_off", Boolean.class));
    }

    private List<Finding> deadRows(String check) {
        var findings = new ArrayList<Finding>();
        for (var table : tables()) {
            if (table.dead > MANY_DEAD_ROWS && table.dead > table.live / 4) {
                var seen = "%s has %d dead rows beside %d live ones.".formatted(table.name, table.dead, table.live);
                var advice =
                        "VACUUM %s.%s now, and let autovacuum come more often: ALTER TABLE %s.%s SET (autovacuum_vacuum_scale_factor = 0.02)."
                                .formatted(database.schema(), table.name, database.schema(), table.name);
                findings.add(
                        table.dead > table.live ? Finding.bad(check, seen, advice) : Finding.warn(check, seen, advice));
            }
        }
        return findings.isEmpty()
                ? List.of(Finding.ok(
                        check,
                        "No table has more than %d dead rows and a quarter of its live ones."
                                .formatted(MANY_DEAD_ROWS)))
                : findings;
    }

    private List<Finding> autovacuum(String check) {
        var sql = """
                SELECT current_setting('autovacuum') = 'on' AND current_setting('track_counts') = 'on' AS on,
                       CAST(current_setting('autovacuum_vacuum_scale_factor') AS double precision) AS scale
                """;
        record Settings(boolean on, double scale) {}
        var settings = database.read(handle -> handle.createQuery(sql)
                .map(row -> new Settings(row.getColumn("on", Boolean.class), row.getColumn("scale", Double.class)))
                .one());
        if (!settings.on) {
            return List.of(
                    Finding.bad(
                            check,
                            "autovacuum or track_counts is off.",
                            "Switch both on: without them the tables grow and claims become slower until somebody runs VACUUM."));
        }
        var findings = new ArrayList<Finding>();
        for (var table : tables()) {
            if (table.vacuumOff) {
                findings.add(Finding.bad(
                        check,
                        "autovacuum is off for %s.".formatted(table.name),
                        "ALTER TABLE %s.%s RESET (autovacuum_enabled).".formatted(database.schema(), table.name)));
            } else if (table.live > BIG_TABLE_ROWS && settings.scale >= 0.1 && table.name.equals("run")) {
                findings.add(Finding.warn(
                        check,
                        "run has %d rows, and autovacuum waits until %.0f %% of them are dead unless the table says otherwise."
                                .formatted(table.live, settings.scale * 100),
                        "ALTER TABLE %s.run SET (autovacuum_vacuum_scale_factor = 0.02)."
                                .formatted(database.schema())));
            }
        }
        return findings.isEmpty() ? List.of(Finding.ok(check, "autovacuum is on for all tables.")) : findings;
    }

    private List<Finding> statistics(String check) {
        var never = tables().stream()
                .filter(table -> !table.analysed && table.live > 1_000)
                .map(Table::name)
                .toList();
        return List.of(
                never.isEmpty()
                        ? Finding.ok(check, "All tables with more than 1000 rows were analysed.")
                        : Finding.warn(
                                check,
                                "Never analysed: %s.".formatted(String.join(", ", never)),
                                "ANALYZE them: Postgres plans for an empty table until then."));
    }

    /** An estimate: pages against entries. Exact numbers need the extension pgstattuple and read the whole index. */
    private List<Finding> indexSize(String check) {
        var sql = """
                SELECT i.relname AS name,
                       pg_relation_size(i.oid) AS bytes,
                       CAST(i.reltuples AS bigint) AS entries
                  FROM pg_class AS i
                  JOIN pg_namespace AS n
                    ON n.oid = i.relnamespace
                 WHERE n.nspname = :schema
                   AND i.relkind = 'i'
                   AND i.reltuples >= 0
                   AND pg_relation_size(i.oid) > :big
                   AND pg_relation_size(i.oid) > i.reltuples * :fat
                 ORDER BY i.relname
                """;
        var fat = database.read(handle -> handle.createQuery(sql)
                .bind("schema", database.schema())
                .bind("big", BIG_INDEX_BYTES)
                .bind("fat", FAT_ENTRY_BYTES)
                .map(row -> Finding.warn(
                        check,
                        "%s has %d MB for an estimated %d entries."
                                .formatted(
                                        row.getColumn("name", String.class),
                                        row.getColumn("bytes", Long.class) / 1024 / 1024,
                                        row.getColumn("entries", Long.class)),
                        "REINDEX INDEX CONCURRENTLY %s.%s. After a large backlog was worked off that is normal, and does little harm."
                                .formatted(database.schema(), row.getColumn("name", String.class))))
                .list());
        return fat.isEmpty()
                ? List.of(Finding.ok(check, "No index is larger than its entries explain (an estimate)."))
                : fat;
    }
}
