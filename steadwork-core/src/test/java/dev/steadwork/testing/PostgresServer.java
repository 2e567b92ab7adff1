package dev.steadwork.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/** One Postgres server per JVM, started when first asked for, durable with {@code -Dsteadwork.test.durable=true}. */
public final class PostgresServer {
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private PostgresServer() {}

    public static String newDatabase() {
        var name = "steadwork_" + DATABASES.incrementAndGet();
        execute("CREATE DATABASE " + name);
        return url(name);
    }

    public static void dropDatabase(String url) {
        var name = URI.create(url.substring("jdbc:".length())).getPath().substring(1);
        execute("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    }

    private static void execute(String sql) {
        try (var connection = DriverManager.getConnection(url("postgres"));
                var statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed", e);
        }
    }

    private static String url(String database) {
        return "jdbc:postgresql://localhost:%d/%s?user=postgres".formatted(Running.SERVER.getPort(), database);
    }

    private static final class Running {
        static final EmbeddedPostgres SERVER = start();

        private static EmbeddedPostgres start() {
            var durable = Boolean.getBoolean("steadwork.test.durable") ? "on" : "off";
            try {
                var server = EmbeddedPostgres.builder()
                        .setServerConfig("max_connections", "300")
                        .setServerConfig("fsync", durable)
                        .setServerConfig("synchronous_commit", durable)
                        .setServerConfig("full_page_writes", durable)
                        .start();
                Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
                return server;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void close(EmbeddedPostgres server) {
            try {
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
