package dev.steadwork.benchmarks.measure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

/** The database under test, and the counters read around a measured phase. */
final class Db {
    static final String URL = System.getenv().getOrDefault("BENCH_JDBC", "");
    static final String USER = System.getenv().getOrDefault("BENCH_USER", "");

    private Db() {}

    static boolean isSqlite() {
        return URL.startsWith("jdbc:sqlite:");
    }

    static Connection connect() throws SQLException {
        return DriverManager.getConnection(URL, USER, "");
    }

    /**
     * For counts that are waited for, as part of what is measured: they are to read what has not ended, by an index. What the planner knows of a
     * table that grows this fast is old, and it sometimes read all of it instead.
     */
    static Connection connectToCount() throws SQLException {
        var connection = connect();
        if (!isSqlite()) {
            try (var statement = connection.createStatement()) {
                statement.execute("SET enable_seqscan = off");
            }
        }
        return connection;
    }

    static HikariDataSource pool(int size) {
        var config = new HikariConfig();
        config.setJdbcUrl(URL);
        config.setUsername(USER);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(size);
        config.setConnectionTimeout(120_000);
        config.addDataSourceProperty("reWriteBatchedInserts", "true");
        return new HikariDataSource(config);
    }

    static long query(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    static void execute(String... statements) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            for (var sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** Counters of the database, of this process and of the server's processes. */
    record Probe(long transactions, long statements, long walBytes, double clientCpu, double serverCpu) {
        static Probe read(Connection connection) throws SQLException {
            var transactions = """
                    SELECT xact_commit + xact_rollback
                      FROM pg_stat_database
                     WHERE datname = current_database()
                    """;
            var wal = "SELECT (pg_current_wal_lsn() - '0/0')::bigint";
            return new Probe(
                    query(connection, transactions),
                    Db.statements(connection),
                    query(connection, wal),
                    clientCpuSeconds(),
                    serverCpuSeconds());
        }

        void reportSince(Probe before, int n, String prefix, String unit) {
            Output.result(prefix + "statements_per_" + unit, (statements - before.statements) / (double) n);
            Output.result(prefix + "wal_bytes_per_" + unit, (walBytes - before.walBytes) / (double) n);
            Output.result(prefix + "client_cpu_us_per_" + unit, (clientCpu - before.clientCpu) * 1e6 / n);
            Output.result(prefix + "server_cpu_us_per_" + unit, (serverCpu - before.serverCpu) * 1e6 / n);
        }
    }

    /** What one of n runs (workflows, ...) costs, by a pass more in which nobody else works. */
    static void reportCost(String prefix, String unit, int n, Passes.Pass pass) throws Exception {
        try (var connection = connect()) {
            Thread.sleep(500); // connections that end report their counters
            var before = Probe.read(connection);
            pass.seconds();
            Thread.sleep(500);
            Probe.read(connection).reportSince(before, n, prefix, unit);
        }
    }

    /** Statements the server has run in this database, less this harness's own looks at the counters. */
    static long statements(Connection connection) throws SQLException {
        var sql = """
                SELECT coalesce(sum(s.calls), 0)::bigint
                  FROM pg_stat_statements s
                  JOIN pg_database d ON d.oid = s.dbid
                 WHERE d.datname = current_database()
                   AND s.query NOT LIKE '%pg_stat_%'
                   AND s.query NOT LIKE '%pg_current_wal%'
                """;
        return query(connection, sql);
    }

    private static double clientCpuSeconds() {
        return ProcessHandle.current()
                        .info()
                        .totalCpuDuration()
                        .orElse(Duration.ZERO)
                        .toNanos()
                / 1e9;
    }

    /** CPU seconds of the postmaster, its living children and those it has reaped; not a number without /proc. */
    static double serverCpuSeconds() {
        var proc = Path.of("/proc");
        if (!Files.isDirectory(proc)) {
            return Double.NaN;
        }
        var postmaster = System.getenv().getOrDefault("BENCH_POSTMASTER", "");
        long ticks = 0;
        try (var processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (var process : processes) {
                ticks += ticksOf(process, postmaster);
            }
        } catch (IOException e) {
            return Double.NaN;
        }
        return ticks / 100.0;
    }

    private static long ticksOf(Path process, String postmaster) {
        try {
            var stat = Files.readString(process.resolve("stat"));
            var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            boolean self = process.getFileName().toString().equals(postmaster);
            boolean child = fields[1].equals(postmaster);
            long own = self || child ? Long.parseLong(fields[11]) + Long.parseLong(fields[12]) : 0;
            long reaped = self ? Long.parseLong(fields[13]) + Long.parseLong(fields[14]) : 0;
            return own + reaped;
        } catch (IOException ended) {
            return 0;
        }
    }
}
