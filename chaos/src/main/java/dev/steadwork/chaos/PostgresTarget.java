package dev.steadwork.chaos;

import dev.steadwork.testing.TcpProxy;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A Postgres of its own that can be restarted. Worker 1 and client 1 reach it directly, the others through networks that fail. Its
 * clock is wrong, as the workers see it, by as much as the seed says.
 */
final class PostgresTarget implements Target {
    private final EmbeddedPostgres server;
    private final Path directory;
    private final Path data;
    private final Path control;
    private final Duration ahead;
    private final List<TcpProxy> networks;

    private PostgresTarget(EmbeddedPostgres server, Path directory, Path data, Duration ahead) throws IOException {
        this.server = server;
        this.directory = directory;
        this.data = data;
        this.control = find(directory.resolve("binaries"), "pg_ctl");
        this.ahead = ahead;
        this.networks = List.of(new TcpProxy(url()), new TcpProxy(url()));
    }

    static PostgresTarget start(Path directory, long seed) throws IOException, SQLException {
        var data = directory.resolve("data");
        var server = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setOverrideWorkingDirectory(directory.resolve("binaries").toFile())
                .setPGStartupWait(Duration.ofMinutes(1))
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_connections", "200")
                .setServerConfig("max_wal_size", "2GB")
                .start();
        var ahead = ahead(seed);
        var target = new PostgresTarget(server, directory, data, ahead);
        target.execute("CREATE TABLE public.chaos_effect (run_id text NOT NULL, value text NOT NULL)");
        target.execute(skewed(ahead));
        return target;
    }

    /** Up to half an hour, before or behind. */
    private static Duration ahead(long seed) {
        var random = new Random(seed);
        long seconds = 120 + random.nextInt(1_700);
        return Duration.ofSeconds(random.nextBoolean() ? seconds : -seconds);
    }

    /** Functions found before the ones of Postgres itself make its clock go wrong. */
    private static String skewed(Duration ahead) {
        return """
                CREATE SCHEMA skewed;
                CREATE FUNCTION skewed.now() RETURNS timestamptz STABLE
                    RETURN pg_catalog.now() + INTERVAL '%1$d seconds';
                CREATE FUNCTION skewed.transaction_timestamp() RETURNS timestamptz STABLE
                    RETURN pg_catalog.transaction_timestamp() + INTERVAL '%1$d seconds';
                CREATE FUNCTION skewed.statement_timestamp() RETURNS timestamptz STABLE
                    RETURN pg_catalog.statement_timestamp() + INTERVAL '%1$d seconds';
                CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz VOLATILE
                    RETURN pg_catalog.clock_timestamp() + INTERVAL '%1$d seconds';
                ALTER DATABASE postgres SET search_path = skewed, pg_catalog, public;
                """.formatted(ahead.toSeconds());
    }

    private static Path find(Path folder, String name) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.getFileName().toString().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IOException("There is no " + name + " in " + folder));
        }
    }

    @Override
    public String url() {
        return "jdbc:postgresql://localhost:%d/postgres?user=postgres".formatted(server.getPort());
    }

    @Override
    public String workerUrl(int lane) {
        return lane == 1 ? url() : networks.get(lane - 2).url();
    }

    @Override
    public String clientUrl(int lane) {
        return lane == 1 ? url() : networks.get(0).url();
    }

    @Override
    public Set<FaultKind> faults() {
        return FaultKind.OF_POSTGRES;
    }

    @Override
    public Duration ahead() {
        return ahead;
    }

    @Override
    public boolean isBeingWritten() {
        return false; // a frozen session keeps locks on its own rows only, and that is to be endured
    }

    @Override
    public String sql(String statement) {
        return statement;
    }

    @Override
    public void inflict(Fault fault, History history) {
        var network = networks.get(fault.lane() % networks.size());
        switch (fault.kind()) {
            case RESTART_FAST -> restart("fast", fault.lasts(), history);
            case RESTART_IMMEDIATE -> restart("immediate", fault.lasts(), history);
            case TERMINATE_ALL -> terminate(1_000);
            case TERMINATE_ONE -> terminate(1);
            case CUT -> during(fault, network, network::cut);
            case SWALLOW -> during(fault, network, network::swallow);
            case DEAFEN -> during(fault, network, network::deafen);
            case DELAY ->
                during(
                        fault,
                        network,
                        () -> network.delay(Duration.ofMillis(fault.lasts().toMillis() / 25)));
            case LOSE_ANSWERS -> {
                var text = fault.lasts().toMillis() % 2 == 0 ? "COMMIT\0" : "INSERT 0 ";
                during(fault, network, () -> network.loseAnswers(text, 20));
            }
            default -> throw new IllegalArgumentException(fault.kind().toString());
        }
    }

    private static void during(Fault fault, TcpProxy network, Runnable breaking) {
        breaking.run();
        Pauses.pause(fault.lasts());
        network.heal();
    }

    private void restart(String mode, Duration down, History history) {
        control("-m", mode, "stop");
        Pauses.pause(down);
        control("restart"); // starts it with the options it had, which "start" does not know
        awaitConnection();
        history.add(Kind.ACCEPTING, "", "", 0, "");
    }

    private void control(String... arguments) {
        var command = new ArrayList<String>();
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("unshare", "-U")); // Postgres refuses to run as root
        }
        command.addAll(List.of(control.toString(), "-D", data.toString(), "-w", "-t", "60"));
        command.addAll(List.of(arguments));
        try {
            var process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            directory.resolve("postgres.log").toFile()))
                    .start();
            if (!process.waitFor(90, TimeUnit.SECONDS)) {
                throw new IllegalStateException(command + " takes too long");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitConnection() {
        while (true) {
            try (var connection = connect()) {
                return;
            } catch (SQLException notYet) {
                Pauses.pause(Duration.ofMillis(10));
            }
        }
    }

    private void terminate(int sessions) {
        var sql = """
                SELECT pg_terminate_backend(pid)
                  FROM (SELECT pid
                          FROM pg_stat_activity
                         WHERE datname = current_database()
                           AND pid <> pg_backend_pid()
                         ORDER BY random()
                         LIMIT ?) victims
                """;
        try (var connection = connect();
                var statement = connection.prepareStatement(sql)) {
            statement.setInt(1, sessions);
            statement.execute();
        } catch (SQLException e) {
            throw new IllegalStateException("Sessions could not be ended.", e);
        }
    }

    private void execute(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection(url());
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        networks.forEach(TcpProxy::close);
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
