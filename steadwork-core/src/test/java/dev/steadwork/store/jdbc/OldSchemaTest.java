package dev.steadwork.store.jdbc;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What an earlier version of the library left in the database goes on with this one. */
@Proves("STORE-2")
class OldSchemaTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);
    private static final int NEWEST = 9;

    @ParameterizedTest
    @MethodSource("everyOldVersion")
    void runs_of_every_status_go_on_after_the_upgrade(TestDatabase database, int version) throws Exception {
        var url = database.newUrl();
        new Old(database, version).create(url);
        var charges = new AtomicInteger();

        try (var steadwork = Steadwork.builder()
                .url(url)
                .pollInterval(Duration.ofMillis(300))
                .open()) {
            assertThat(run(steadwork, COMPLETED).result()).isEqualTo("old");
            assertThat(run(steadwork, FAILED).info().error().message()).isEqualTo("card refused");
            assertThat(run(steadwork, CANCELLED).status()).isEqualTo(CANCELLED);
            assertThat(steadwork.runs().count()).isEqualTo(RunStatus.values().length);
            steadwork
                    .worker()
                    .handle(ORDER, (ctx, input) -> {
                        var charge = ctx.step("charge", String.class, step -> "charge " + charges.incrementAndGet());
                        return input + " " + charge + " " + ctx.awaitEvent("approved", String.class, PATIENCE);
                    })
                    .start();
            run(steadwork, PAUSED).resume();
            run(steadwork, FAILED).retry();
            run(steadwork, CANCELLED).retry();

            for (var status : List.of(PENDING, SLEEPING, RUNNING, PAUSED, FAILED, CANCELLED)) {
                if (version < 2) {
                    run(steadwork, status).signal("approved", "yes");
                }
                assertThat(run(steadwork, status).await(PATIENCE))
                        .as(status.name())
                        .isEqualTo("order kept yes");
            }
            assertThat(charges)
                    .as("steps that were kept are not executed again")
                    .hasValue(0);
            if (version >= 4) {
                assertThat(steadwork.schedules().list())
                        .extracting(ScheduleInfo::id)
                        .containsExactly("nightly");
                var fired = steadwork.schedules().trigger("nightly");
                fired.signal("approved", "too");
                assertThat(fired.await(PATIENCE)).isEqualTo("order charge 1 too");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("everyOldVersion")
    void a_process_that_may_not_migrate_says_so_and_changes_nothing(TestDatabase database, int version)
            throws Exception {
        var url = database.newUrl();
        new Old(database, version).create(url);

        assertThatThrownBy(() -> Steadwork.builder().url(url).migrate(false).open())
                .isInstanceOf(PreconditionFailed.class)
                .hasMessageContaining("has version " + version)
                .hasMessageContaining("needs " + NEWEST);
    }

    private static RunHandle<String> run(Steadwork steadwork, RunStatus status) {
        return steadwork.run(id(status), ORDER);
    }

    private static RunId id(RunStatus status) {
        return RunId.parse("019a8a5c-2b00-7000-8000-00000000000" + status.ordinal());
    }

    static List<Arguments> everyOldVersion() {
        var all = new ArrayList<Arguments>();
        for (var database : TestDatabase.values()) {
            IntStream.range(1, NEWEST).forEach(version -> all.add(Arguments.of(database, version)));
        }
        return all;
    }

    /** A database as a library with this schema would have left it when the power failed. */
    private record Old(TestDatabase database, int version) {
        void create(String url) throws SQLException, IOException {
            try (var connection = DriverManager.getConnection(url);
                    var statement = connection.createStatement()) {
                if (!sqlite()) {
                    statement.execute("CREATE SCHEMA steadwork");
                }
                for (int file = 1; file <= version; file++) {
                    apply(statement, "V%d.sql".formatted(file));
                }
                for (var status : RunStatus.values()) {
                    insert(statement, status);
                }
                if (version >= 4) {
                    insertSchedule(statement);
                }
            }
        }

        private void apply(Statement statement, String file) throws SQLException, IOException {
            try (var stream = OldSchemaTest.class.getResourceAsStream((sqlite() ? "sqlite/" : "postgres/") + file)) {
                var script = new String(stream.readAllBytes(), StandardCharsets.UTF_8).replaceAll("--.*", "");
                for (var sql : script.replace("steadwork.", prefix()).split(";\\s*\n")) {
                    if (!sql.isBlank()) {
                        statement.execute(sql);
                    }
                }
            }
        }

        private void insert(Statement statement, RunStatus status) throws SQLException {
            boolean ended = List.of(COMPLETED, FAILED, CANCELLED).contains(status);
            statement.execute("""
                    INSERT INTO %srun (shard, run_id, namespace, type, queue, status, priority, due_at, lease_epoch, worker,
                                       created_at, started_at, finished_at, paused_at, updated_at, error, input, output)
                    VALUES (0, '%s', 'default', 'order', 'order', '%s', 0, %s, 1, %s, %s, %s, %s, %s, %s, %s, %s, %s)
                    """.formatted(
                            prefix(),
                            id(status),
                            status,
                            ended || status == PAUSED ? "NULL" : time(),
                            status == RUNNING ? "'gone'" : "NULL",
                            time(),
                            time(),
                            ended ? time() : "NULL",
                            status == PAUSED ? time() : "NULL",
                            time(),
                            status == FAILED ? "'{\"type\":\"a.B\",\"message\":\"card refused\"}'" : "NULL",
                            bytes("\"order\""),
                            status == COMPLETED ? bytes("\"old\"") : "NULL"));
            statement.execute("""
                    INSERT INTO %sstep (shard, run_id, name, occurrence, position, kind, status, attempt, started_at,
                                        finished_at, output)
                    VALUES (0, '%s', 'charge', 1, 1, 'FUNCTION', 'COMPLETED', 1, %s, %s, %s)
                    """.formatted(prefix(), id(status), time(), time(), bytes("\"kept\"")));
            if (version >= 2 && status != COMPLETED) {
                statement.execute(
                        "INSERT INTO %ssignal (shard, run_id, number, name, sent_at, payload) VALUES (0, '%s', 1, 'approved', %s, %s)"
                                .formatted(prefix(), id(status), time(), bytes("\"yes\"")));
                statement.execute("UPDATE %srun SET inbox = 1 WHERE run_id = '%s'".formatted(prefix(), id(status)));
            }
        }

        private void insertSchedule(Statement statement) throws SQLException {
            statement.execute("""
                    INSERT INTO %sschedule (shard, namespace, schedule_id, type, demand, priority, input, cron, zone,
                                            max_catchup, overlap, jitter, enabled, revision, created_at, updated_at)
                    VALUES (0, 'default', 'nightly', 'order', 'ACCEPT', 0, %s, '0 3 * * *', 'UTC', 1, 'ALLOW', 0, %s, 1, %s, %s)
                    """.formatted(prefix(), bytes("\"order\""), sqlite() ? "0" : "false", time(), time()));
        }

        private boolean sqlite() {
            return database == TestDatabase.SQLITE;
        }

        private String prefix() {
            return sqlite() ? "steadwork_" : "steadwork.";
        }

        private String time() {
            return sqlite() ? "1763000000000000" : "'2026-01-01T00:00:00Z'";
        }

        private String bytes(String text) {
            var hex = new StringBuilder();
            for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
                hex.append("%02x".formatted(b));
            }
            return sqlite() ? "x'%s'".formatted(hex) : "'\\x%s'".formatted(hex);
        }
    }
}
