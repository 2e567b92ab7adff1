package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunId;
import dev.steadwork.RunQuery;
import dev.steadwork.Steadwork;
import dev.steadwork.StepInfo;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Store;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema is brought up to date once, whoever asks for it and however many at once. */
@Proves("STORE-2")
class MigrationsTest {
    private static final RunQuery.Filter ALL =
            new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, false);

    @ParameterizedTest
    @EnumSource
    void migrating_again_changes_nothing(TestDatabase database) {
        try (var store = JdbcStores.open(Configs.of(database.newUrl()))) {
            store.migrate();
            store.migrate();

            store.checkSchema();
            assertThat(store.count("default", ALL)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void many_processes_may_migrate_at_once(TestDatabase database) throws Exception {
        var url = database.newUrl();
        var stores = new ArrayList<Store>();
        for (int i = 0; i < 8; i++) {
            stores.add(JdbcStores.open(Configs.of(url)));
        }

        migrateAtOnce(stores);

        stores.forEach(Store::checkSchema);
        assertThat(appliedVersions(url, database)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
        stores.forEach(Store::close);
    }

    @ParameterizedTest
    @EnumSource
    void runs_of_the_first_version_go_on_after_the_upgrade(TestDatabase database) throws Exception {
        var url = database.newUrl();
        var run = RunId.parse("019a8a5c-2b00-7000-8000-000000000000");
        createFirstVersion(url, database, run);

        try (var store = JdbcStores.open(Configs.of(url))) {
            store.migrate();

            assertThat(store.steps(run)).extracting(StepInfo::name).containsExactly("charge");
            var request = new ClaimRequest(
                    "default",
                    "worker",
                    List.of("order"),
                    List.of("order"),
                    List.of(),
                    List.of(),
                    1,
                    Duration.ofSeconds(30));
            var claimed = store.claim(request).runs().get(0);
            assertThat(claimed.id()).isEqualTo(run);
            assertThat(claimed.inbox()).isZero();
            assertThat(claimed.compensates()).isFalse();
            assertThat(claimed.steps())
                    .extracting(StepRecord::output)
                    .containsExactly(new Payload("7".getBytes(StandardCharsets.UTF_8), Payload.JSON));
        }
    }

    /** A schema of version 1 with a run that has a step behind it and waits for a worker. */
    private static void createFirstVersion(String url, TestDatabase database, RunId run) throws Exception {
        boolean sqlite = database == TestDatabase.SQLITE;
        var prefix = sqlite ? "steadwork_" : "steadwork.";
        var folder = sqlite ? "sqlite" : "postgres";
        var time = sqlite ? "1763000000000000" : "'2026-01-01T00:00:00Z'";
        var bytes = sqlite ? "x'37'" : "'\\x37'";
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            if (!sqlite) {
                statement.execute("CREATE SCHEMA steadwork");
            }
            for (var sql :
                    resource(folder + "/V1.sql").replace("steadwork.", prefix).split(";\\s*\n")) {
                statement.execute(sql);
            }
            statement.execute(
                    "INSERT INTO %srun (shard, run_id, namespace, type, queue, status, priority, due_at, lease_epoch, created_at, started_at, updated_at) VALUES (0, '%s', 'default', 'order', 'order', 'PENDING', 0, %s, 1, %s, %s, %s)"
                            .formatted(prefix, run, time, time, time, time));
            statement.execute(
                    "INSERT INTO %sstep (shard, run_id, name, occurrence, position, kind, status, attempt, started_at, finished_at, output) VALUES (0, '%s', 'charge', 1, 1, 'FUNCTION', 'COMPLETED', 1, %s, %s, %s)"
                            .formatted(prefix, run, time, time, bytes));
        }
    }

    private static String resource(String file) throws IOException {
        try (var stream = MigrationsTest.class.getResourceAsStream(file)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void migrateAtOnce(List<Store> stores) throws Exception {
        var pool = Executors.newFixedThreadPool(stores.size());
        try {
            var start = new CyclicBarrier(stores.size());
            var futures = new ArrayList<Future<?>>();
            for (var store : stores) {
                futures.add(pool.submit(() -> {
                    start.await();
                    store.migrate();
                    return null;
                }));
            }
            for (var future : futures) {
                future.get();
            }
        } finally {
            pool.shutdown();
        }
    }

    private static List<Integer> appliedVersions(String url, TestDatabase database) throws SQLException {
        var versions = new ArrayList<Integer>();
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT version FROM " + versionTable(database))) {
            while (rows.next()) {
                versions.add(rows.getInt(1));
            }
        }
        return versions;
    }

    private static String versionTable(TestDatabase database) {
        return database == TestDatabase.SQLITE ? "steadwork_schema_version" : "steadwork.schema_version";
    }

    @ParameterizedTest
    @EnumSource
    void a_missing_schema_is_refused_with_what_to_do(TestDatabase database) {
        try (var store = JdbcStores.open(Configs.of(database.newUrl()))) {
            assertThatThrownBy(store::checkSchema)
                    .isInstanceOf(PreconditionFailed.class)
                    .hasMessageContaining("has version 0")
                    .hasMessageContaining("needs 9")
                    .hasMessageContaining("migrate(true)");
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves("STORE-3")
    void using_a_missing_schema_is_refused_too(TestDatabase database) {
        try (var store = JdbcStores.open(Configs.of(database.newUrl()))) {
            assertThatThrownBy(() -> store.count("default", ALL))
                    .isInstanceOf(PreconditionFailed.class)
                    .hasMessageContaining("migrate(true)");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_schema_of_a_newer_library_is_refused(TestDatabase database) throws SQLException {
        var url = database.newUrl();
        try (var store = JdbcStores.open(Configs.of(url))) {
            store.migrate();
            setVersion(url, database, 99);

            for (var attempt : List.<Runnable>of(store::checkSchema, store::migrate)) {
                assertThatThrownBy(attempt::run)
                        .isInstanceOf(PreconditionFailed.class)
                        .hasMessageContaining("99")
                        .hasMessageContaining("Upgrade the library");
            }
        }
    }

    private static void setVersion(String url, TestDatabase database, int version) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.executeUpdate(
                    "INSERT INTO %1$s (version, applied_at) SELECT %2$d, applied_at FROM %1$s WHERE version = 1"
                            .formatted(versionTable(database), version));
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_schemas_live_side_by_side(TestDatabase database) {
        var url = database.newUrl();
        try (var first = JdbcStores.open(Configs.of(url, "one"));
                var second = JdbcStores.open(Configs.of(url, "two"))) {
            first.migrate();
            assertThatThrownBy(second::checkSchema).isInstanceOf(PreconditionFailed.class);
            second.migrate();

            first.checkSchema();
            second.checkSchema();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_application_prints_them_without_changing_anything(TestDatabase database) {
        var settings = Steadwork.builder().url(database.newUrl()).schema("billing");

        assertThat(settings.printMigrations()).contains("billing").contains("CREATE TABLE");
        assertThatThrownBy(() -> settings.migrate(false).open()).isInstanceOf(PreconditionFailed.class);
    }

    @ParameterizedTest
    @EnumSource
    void the_printed_migrations_can_be_applied_by_hand(TestDatabase database) throws SQLException {
        var url = database.newUrl();
        try (var store = JdbcStores.open(Configs.of(url, "mine"))) {
            execute(url, store.printMigrations());

            store.checkSchema();
        }
    }

    private static void execute(String url, String script) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            for (var sql : script.replaceAll("--.*", "").split(";")) {
                if (!sql.isBlank()) {
                    statement.execute(sql);
                }
            }
        }
    }

    @Test
    void a_user_without_the_right_to_create_schemas_may_use_one_that_exists() throws SQLException {
        var url = TestDatabase.POSTGRES.newUrl();
        execute(url, """
                CREATE ROLE no_schemas LOGIN;
                CREATE SCHEMA steadwork AUTHORIZATION no_schemas;
                """);

        try (var store = JdbcStores.open(Configs.of(url.replace("user=postgres", "user=no_schemas")))) {
            store.migrate();
            store.checkSchema();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Steadwork", "a-b", "a b", "1a", "a\"; DROP TABLE x", "pg_mine", "sqlite", "ä"})
    void a_schema_name_that_needs_quoting_is_refused(String schema) {
        assertThatThrownBy(() -> JdbcStores.open(Configs.of("jdbc:sqlite::memory:", schema)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'" + schema + "'");
    }
}
