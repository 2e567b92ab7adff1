package dev.steadwork.benchmarks.harness;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A throw-away Postgres on loopback, durable, with a fresh database per measurement. */
final class Cluster implements AutoCloseable {
    static final String USER = "postgres";
    private static final Map<String, String> SETTINGS = settings();

    private final EmbeddedPostgres server;
    private final String postmaster;
    /** Those of the newest measurement. */
    private final List<String> databases = new ArrayList<>();

    private Cluster(EmbeddedPostgres server, String postmaster) {
        this.server = server;
        this.postmaster = postmaster;
    }

    private static Map<String, String> settings() {
        var all = new LinkedHashMap<String, String>();
        all.put("fsync", "on");
        all.put("synchronous_commit", "on");
        all.put("full_page_writes", "on");
        all.put("shared_buffers", "1GB");
        all.put("max_wal_size", "4GB");
        all.put("max_connections", "200");
        all.put("shared_preload_libraries", "pg_stat_statements");
        return all;
    }

    static Cluster start(Path directory) throws IOException, SQLException {
        var data = directory.resolve("data");
        var builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setOverrideWorkingDirectory(directory.resolve("binaries").toFile())
                .setRegisterShutdownHook(false)
                .setPGStartupWait(Duration.ofMinutes(1))
                .setLocaleConfig("locale", "C.UTF-8");
        SETTINGS.forEach(builder::setServerConfig);
        var server = builder.start();
        var postmaster =
                Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
        var cluster = new Cluster(server, postmaster);
        cluster.checkDurable();
        return cluster;
    }

    /** Numbers without durability would mean nothing. */
    private void checkDurable() throws SQLException {
        for (var setting : SETTINGS.keySet()) {
            if (SETTINGS.get(setting).equals("on") && !show(setting).equals("on")) {
                throw new IllegalStateException("%s is %s in the started Postgres".formatted(setting, show(setting)));
            }
        }
    }

    String show(String setting) throws SQLException {
        try (var connection = connect(USER);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SHOW " + setting)) {
            rows.next();
            return rows.getString(1);
        }
    }

    Map<String, String> shown() throws SQLException {
        var all = new LinkedHashMap<String, String>();
        for (var setting : SETTINGS.keySet()) {
            all.put(setting, show(setting));
        }
        return all;
    }

    int port() {
        return server.getPort();
    }

    /** What a measured process needs to know of this database. */
    Map<String, String> environment(String database) {
        return Map.of(
                "BENCH_JDBC",
                "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port(), database),
                "BENCH_URL",
                "postgres://%s@127.0.0.1:%d/%s".formatted(USER, port(), database),
                "BENCH_USER",
                USER,
                "BENCH_POSTMASTER",
                postmaster);
    }

    /** An empty database for a measurement, with what was written before on the disk. */
    String newDatabase(boolean synchronous) throws SQLException {
        return newDatabase("template1", synchronous);
    }

    /** A copy of a database, which nobody may be connected to. */
    String newDatabase(String template, boolean synchronous) throws SQLException {
        return newDatabases(1, template, synchronous).get(0);
    }

    /** One each for those who are measured side by side; the databases of the last measurement are gone. */
    List<String> newDatabases(int count) throws SQLException {
        return newDatabases(count, "template1", true);
    }

    private List<String> newDatabases(int count, String template, boolean synchronous) throws SQLException {
        for (var last : databases) {
            drop(last);
        }
        databases.clear();
        for (int i = 1; i <= count; i++) {
            databases.add(create("bench" + i, template, synchronous));
        }
        execute(USER, "CHECKPOINT");
        return List.copyOf(databases);
    }

    private String create(String database, String template, boolean synchronous) throws SQLException {
        execute(USER, "CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy".formatted(database, template));
        execute(USER, "ALTER DATABASE %s SET synchronous_commit = %s".formatted(database, synchronous ? "on" : "off"));
        execute(database, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        return database;
    }

    String newTemplate(String name) throws SQLException {
        drop(name);
        execute(USER, "CREATE DATABASE " + name);
        return name;
    }

    void drop(String database) throws SQLException {
        execute(USER, "DROP DATABASE IF EXISTS %s WITH (FORCE)".formatted(database));
    }

    private void execute(String database, String sql) throws SQLException {
        try (var connection = connect(database);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(environment(database).get("BENCH_JDBC"), USER, "");
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
