package dev.steadwork.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PgBouncer in transaction mode before the Postgres of the tests, one per JVM. Few server connections that take turns, so that
 * whoever relies on a session is found out.
 *
 * <p>The program is that of {@code -Dsteadwork.pgbouncer=...}, that of the path, or Debian's package, which is downloaded and
 * unpacked into {@code target} without any rights. Where none of these can be had, its tests are left out with a warning.
 */
public final class PgBouncer {
    private static final Logger LOG = LoggerFactory.getLogger(PgBouncer.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Path UNPACKED = Path.of("target", "pgbouncer");

    private PgBouncer() {}

    /** Whether there is a program; says so if not. For {@code @EnabledIf}. */
    public static boolean isThere() {
        return Program.FOUND != null;
    }

    /** The same database, by way of PgBouncer. */
    public static String through(String url) {
        var direct = URI.create(url.substring("jdbc:".length()));
        return url.replace(":" + direct.getPort() + "/", ":" + Running.portTo(direct.getPort()) + "/");
    }

    private static final class Program {
        static final Path FOUND = find();

        private static Path find() {
            var given = System.getProperty("steadwork.pgbouncer");
            var path = Stream.of((System.getenv("PATH") + ":/usr/sbin").split(":"))
                    .map(directory -> Path.of(directory, "pgbouncer"));
            var known = Stream.concat(Stream.ofNullable(given).map(Path::of), path)
                    .filter(Files::isExecutable)
                    .findFirst();
            return known.orElseGet(Program::download);
        }

        private static Path download() {
            var program = UNPACKED.resolve("usr/sbin/pgbouncer").toAbsolutePath();
            try {
                if (!Files.isExecutable(program)) {
                    Files.createDirectories(UNPACKED);
                    run(UNPACKED, "apt-get", "download", "pgbouncer", "libevent-2.1-7", "libc-ares2");
                    try (var packages = Files.newDirectoryStream(UNPACKED, "*.deb")) {
                        for (var file : packages) {
                            run(UNPACKED, "dpkg-deb", "-x", file.getFileName().toString(), ".");
                        }
                    }
                }
                run(UNPACKED, program.toString(), "--version");
                return program;
            } catch (IOException e) {
                LOG.warn(
                        "THE TESTS THROUGH PGBOUNCER ARE LEFT OUT: there is no pgbouncer on the path and Debian's package"
                                + " could not be downloaded ({}). Install it, or name it with -Dsteadwork.pgbouncer=...",
                        e.getMessage());
                return null;
            }
        }

        private static void run(Path directory, String... command) throws IOException {
            var builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.to(
                            Files.createTempFile("pgbouncer", ".log").toFile()));
            useUnpackedLibraries(builder);
            var process = builder.start();
            try {
                if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                    process.destroyForcibly();
                    throw new IOException(String.join(" ", command) + " failed");
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
    }

    private static void useUnpackedLibraries(ProcessBuilder builder) throws IOException {
        var libraries = UNPACKED.resolve("usr/lib");
        if (Files.isDirectory(libraries)) {
            try (var folders = Files.list(libraries)) {
                folders.filter(Files::isDirectory)
                        .findFirst()
                        .ifPresent(folder -> builder.environment()
                                .put("LD_LIBRARY_PATH", folder.toAbsolutePath().toString()));
            }
        }
    }

    private static final class Running {
        private static int port;

        static synchronized int portTo(int postgresPort) {
            if (port == 0) {
                port = start(postgresPort);
            }
            return port;
        }

        private static int start(int postgresPort) {
            try {
                int free = freePort();
                var settings =
                        Files.writeString(Files.createTempFile("pgbouncer", ".ini"), """
                        [databases]
                        * = host=localhost port=%d user=postgres

                        [pgbouncer]
                        listen_addr = localhost
                        listen_port = %d
                        unix_socket_dir =
                        auth_type = any
                        pool_mode = transaction
                        default_pool_size = 8
                        max_client_conn = 500
                        server_round_robin = 1
                        ignore_startup_parameters = extra_float_digits
                        """.formatted(postgresPort, free));
                var command = new ArrayList<>(List.of(Program.FOUND.toString(), "-q", settings.toString()));
                if (System.getProperty("user.name").equals("root")) {
                    command.addAll(1, List.of("-u", "nobody")); // it refuses to be root
                }
                var builder = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                Files.createTempFile("pgbouncer", ".log").toFile());
                useUnpackedLibraries(builder);
                var process = builder.start();
                Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
                Awaitility.await().atMost(PATIENCE).until(() -> accepts(free));
                return free;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static int freePort() throws IOException {
            try (var socket = new ServerSocket(0)) {
                return socket.getLocalPort();
            }
        }

        private static boolean accepts(int port) {
            try (var socket = new Socket("localhost", port)) {
                return socket.isConnected();
            } catch (IOException notYet) {
                return false;
            }
        }
    }
}
