package dev.steadwork.store.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has new tables analysed while they are still small. Postgres plans a statement by what it knows of the tables, keeps the
 * plan until they are analysed, and does that by itself only about once a minute: a plan made for a table that looked empty
 * would be kept for a million runs. So this process looks when it opens the database and after its first thousand writes,
 * its first ten thousand and so on, whether a table has outgrown what Postgres knows of it.
 */
final class EarlyAnalysis {
    private static final Logger LOG = LoggerFactory.getLogger(EarlyAnalysis.class);
    private static final long FIRST_LOOK = 1_000;
    private static final long LAST_LOOK = 1_000_000;
    private static final Map<String, String> ANALYSE = Map.of(
            "run", "ANALYZE steadwork.run",
            "step", "ANALYZE steadwork.step",
            "step_attempt", "ANALYZE steadwork.step_attempt",
            "signal", "ANALYZE steadwork.signal",
            "event", "ANALYZE steadwork.event",
            "outbox", "ANALYZE steadwork.outbox");

    private final Database database;
    private final Trips trips;
    private final AtomicLong seen = new AtomicLong();
    private final AtomicLong nextLook = new AtomicLong(FIRST_LOOK);

    EarlyAnalysis(Database database, Trips trips) {
        this.database = database;
        this.trips = trips;
    }

    /** Counts what was written; returns at once. */
    void count(int writes) {
        long look = nextLook.get();
        if (look <= LAST_LOOK && seen.addAndGet(writes) >= look && nextLook.compareAndSet(look, look * 10)) {
            lookSoon();
        }
    }

    /** Looks in the background. */
    void lookSoon() {
        var thread = new Thread(this::look, "steadwork-analysis");
        thread.setDaemon(true);
        thread.start();
    }

    private synchronized void look() {
        try {
            var outgrown = outgrown();
            ANALYSE.forEach((table, sql) -> {
                if (outgrown.contains(table)) {
                    analyse(sql);
                }
            });
        } catch (RuntimeException e) {
            LOG.debug("The tables were not analysed; autovacuum will do it.", e);
        }
    }

    /**
     * Tables that have more than twice the pages that the planner knows of. Not small ones: their plans would be full scans,
     * and be kept when they have grown.
     */
    private List<String> outgrown() {
        var sql = """
                SELECT CAST(c.relname AS varchar(255)) AS name
                  FROM pg_class AS c
                  JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname = CAST(:schema AS text)
                   AND c.relkind = 'r'
                   AND c.relname = ANY(:tables)
                   AND pg_relation_size(c.oid) / CAST(current_setting('block_size') AS bigint)
                       > greatest(15, CASE WHEN c.reltuples < 0 THEN 0 ELSE 2 * c.relpages END)
                """;
        var names = new ArrayList<String>();
        trips.autocommit(connection -> {
            new Pipeline(database)
                    .add(
                            sql,
                            Map.of(
                                    "schema",
                                    database.schema(),
                                    "tables",
                                    Columns.textArray(List.copyOf(ANALYSE.keySet()))),
                            row -> names.add(row.getString("name")))
                    .run(connection);
            return names;
        });
        return names;
    }

    /** A role that does not own the table is warned by Postgres, and nothing happens. */
    private void analyse(String sql) {
        trips.autocommit(connection -> {
            try (var statement = connection.createStatement()) {
                return statement.execute(database.sql(sql));
            }
        });
    }
}
