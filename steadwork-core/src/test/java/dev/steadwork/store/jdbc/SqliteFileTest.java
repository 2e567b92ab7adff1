package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.RunStatus;
import dev.steadwork.SteadworkException;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Unavailable;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.WorkerRegistration;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

/** What is special about a database that is a file, or no file at all. */
@Proves("STORE-1")
class SqliteFileTest {
    @TempDir
    Path directory;

    private static final Heartbeat HEARTBEAT = new Heartbeat("default", "worker-1", List.of(), 0, 0, 0, false);

    private final AtomicInteger gaps = new AtomicInteger();

    private Store open(Path file) {
        var store = JdbcStores.open(Configs.of("jdbc:sqlite:" + file));
        store.migrate();
        return store;
    }

    @Test
    @Proves("STEP-5")
    void a_full_disk_that_has_room_again_is_written_as_before() throws SQLException {
        var url = "jdbc:sqlite:" + directory.resolve("full.db");
        var connections = new ArrayList<Connection>();
        try (var store = JdbcStores.openSqlite(url, Configs.of(url), source -> remembering(source, connections));
                var other = open(directory.resolve("full.db"))) {
            store.migrate();
            limit(connections, 1); // as many as are in use
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> fill(store)).isInstanceOf(Unavailable.class);
            }
            limit(connections, 1_000_000);

            fill(store);
            assertThat(store.heartbeat(HEARTBEAT)).isNotNull();
            fill(other);
        }
    }

    private static void fill(Store store) {
        for (int i = 0; i < 300; i++) {
            store.write(List.of(new Write.Trigger(newRun())));
        }
    }

    private static DataSource remembering(DataSource source, List<Connection> connections) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    var result = method.invoke(source, arguments);
                    if (result instanceof Connection connection) {
                        connections.add(connection);
                    }
                    return result;
                });
    }

    /** Lets the database grow to so many pages: more is told like a full disk. */
    private static void limit(List<Connection> connections, int pages) throws SQLException {
        for (var connection : List.copyOf(connections)) {
            try (var statement = connection.createStatement()) {
                statement.execute("PRAGMA max_page_count = " + pages);
            }
        }
    }

    private static NewRun newRun() {
        return new NewRun(
                RunIds.next("default", null),
                "default",
                "checkout",
                null,
                null,
                Payload.NONE,
                0,
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                null,
                null,
                null,
                null,
                TriggerCheck.ACCEPT,
                Map.of(),
                null);
    }

    private static ClaimRequest claimOf(int limit) {
        return new ClaimRequest(
                "default",
                "worker-1",
                List.of("checkout"),
                List.of("checkout"),
                List.of(),
                List.of(),
                limit,
                Duration.ofMinutes(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:sqlite::memory:", "jdbc:sqlite:", "jdbc:sqlite:file::memory:"})
    void a_database_in_memory_works_like_a_file(String url) {
        try (var store = JdbcStores.open(Configs.of(url))) {
            store.migrate();
            store.checkSchema();
            var run = newRun();
            store.triggerAll(List.of(run));

            var claimed = store.claim(claimOf(1)).runs().get(0);
            store.write(List.of(
                    new Write.Finish(claimed.id(), claimed.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null)));

            assertThat(store.find(run.id()).status()).isEqualTo(RunStatus.COMPLETED);
        }
    }

    @Test
    void two_databases_in_memory_are_apart() {
        try (var one = JdbcStores.open(Configs.of("jdbc:sqlite::memory:"));
                var other = JdbcStores.open(Configs.of("jdbc:sqlite::memory:"))) {
            one.migrate();
            other.migrate();
            var run = newRun();
            one.triggerAll(List.of(run));

            assertThat(other.find(run.id())).isNull();
        }
    }

    @Test
    void what_was_written_is_there_when_the_file_is_opened_again() {
        var file = directory.resolve("app.db");
        var run = newRun();
        try (var store = open(file)) {
            store.triggerAll(List.of(run));
        }

        try (var store = open(file)) {
            assertThat(store.find(run.id()).status()).isEqualTo(RunStatus.PENDING);
        }
    }

    @Test
    @Proves("STORE-3")
    void a_missing_directory_is_named() {
        var file = directory.resolve("missing").resolve("app.db");

        assertThatThrownBy(() -> open(file))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining(directory.resolve("missing").toString());
        assertThatThrownBy(() -> open(directory))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining(directory.toString());
    }

    @Test
    @Proves("STORE-3")
    void a_file_that_is_no_database_is_named() throws IOException {
        var file = Files.writeString(
                directory.resolve("notes.txt"), "not a database, but long enough to have a header".repeat(9));

        assertThatThrownBy(() -> open(file)).isInstanceOf(InvalidArgument.class).hasMessageContaining(file.toString());
    }

    @Test
    @Proves("STORE-3")
    void a_file_that_cannot_be_written_is_named() {
        var file = directory.resolve("app.db");
        open(file).close();
        var readOnly = Configs.of("jdbc:sqlite:file:" + file + "?mode=ro");

        try (var store = JdbcStores.open(readOnly)) {
            assertThatThrownBy(() -> store.triggerAll(List.of(newRun())))
                    .isInstanceOf(SteadworkException.class)
                    .isInstanceOf(Unavailable.class)
                    .hasMessageContaining(file.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves("CLAIM-7")
    void what_another_process_commits_is_noticed(Form form) {
        var file = directory.resolve("app.db");
        try (var mine = openWatched(form, file);
                var other = open(file)) {
            other.triggerAll(List.of(newRun()));

            await().atMost(Duration.ofSeconds(10)).until(() -> gaps.get() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves({"CLAIM-7", "TRIG-7"})
    void what_the_application_commits_is_noticed(Form form) throws SQLException {
        var file = directory.resolve("app.db");
        try (var store = openWatched(form, file);
                var connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            connection.setAutoCommit(false);

            store.triggerIn(connection, List.of(newRun()));
            connection.commit();

            await().atMost(Duration.ofSeconds(10)).until(() -> gaps.get() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves("CLAIM-7")
    void what_others_commit_just_before_a_heartbeat_is_noticed(Form form) {
        var file = directory.resolve("app.db");
        try (var mine = openWatched(form, file);
                var other = open(file)) {
            for (int i = 0; i < 5; i++) {
                settle();

                other.triggerAll(List.of(newRun()));
                mine.heartbeat(HEARTBEAT);

                await().atMost(Duration.ofSeconds(10)).until(() -> gaps.get() > 0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves("CLAIM-7")
    void heartbeats_and_looking_are_not_taken_for_commits_of_others(Form form) {
        try (var store = openWatched(form, directory.resolve("app.db"))) {
            store.claim(claimOf(1000));
            settle();

            for (int i = 0; i < 30; i++) {
                store.heartbeat(HEARTBEAT);
                store.claim(claimOf(5));
                store.promote(new PromoteRequest("default", List.of("checkout"), List.of(), 10));
                await().pollDelay(Duration.ofMillis(30)).until(() -> true);
            }

            assertThat(gaps.get()).isZero();
        }
    }

    @Test
    void a_pool_of_one_connection_is_enough() throws Exception {
        try (var pool = new HikariDataSource()) {
            pool.setJdbcUrl("jdbc:sqlite:" + directory.resolve("app.db"));
            pool.setMaximumPoolSize(1);
            pool.setConnectionTimeout(10_000);
            try (var store = JdbcStores.open(Configs.of(pool))) {
                store.migrate();
                var threads = Executors.newFixedThreadPool(3);
                var claiming = threads.submit(() -> triggerAndClaim(store, 40));
                var beating = threads.submit(() -> {
                    for (int i = 0; i < 40; i++) {
                        store.heartbeat(HEARTBEAT);
                        store.promote(new PromoteRequest("default", List.of("checkout"), List.of(), 10));
                    }
                });
                threads.shutdown();
                beating.get();

                assertThat(claiming.get() + claimRest(store)).isEqualTo(40);
            }
        }
    }

    @Test
    void our_own_commits_and_looking_are_not_taken_for_others() {
        try (var store = openWatched(Form.URL, directory.resolve("app.db"))) {
            await().during(Duration.ofMillis(500))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> {
                        store.triggerAll(List.of(newRun()));
                        store.claim(claimOf(5));
                        return gaps.get() == 0;
                    });
        }
    }

    /** How a store is told where its file is. */
    enum Form {
        URL {
            @Override
            Store open(Path file) {
                return JdbcStores.open(Configs.of("jdbc:sqlite:" + file));
            }
        },
        DATA_SOURCE {
            @Override
            Store open(Path file) {
                return ofDataSource(file);
            }
        };

        abstract Store open(Path file);
    }

    /** Opens a store and counts its gaps after the first, which any change at the beginning makes. */
    private Store openWatched(Form form, Path file) {
        var store = form.open(file);
        store.signals().subscribe(new Signals.Listener() {
            @Override
            public void gap() {
                gaps.incrementAndGet();
            }
        });
        store.migrate();
        store.registerWorker(new WorkerRegistration(
                "default",
                "worker-1",
                "worker",
                "here",
                1,
                List.of(),
                List.of("checkout"),
                List.of(),
                List.of(),
                1,
                null,
                Map.of()));
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            store.triggerAll(List.of(newRun()));
            return gaps.get() > 0;
        });
        settle();
        return store;
    }

    /** Waits until what was committed so far has been noticed, and forgets it. */
    private void settle() {
        await().pollInterval(Duration.ofMillis(300)).until(() -> gaps.getAndSet(0) == 0);
    }

    @Test
    @Proves("CLAIM-5")
    void several_stores_on_one_file_share_the_work() throws Exception {
        var file = directory.resolve("app.db");
        var stores = List.of(open(file), open(file), ofDataSource(file));
        var pool = Executors.newFixedThreadPool(stores.size());
        try {
            var futures = new ArrayList<Future<Integer>>();
            for (var store : stores) {
                futures.add(pool.submit(() -> triggerAndClaim(store, 40)));
            }
            int claimed = 0;
            for (var future : futures) {
                claimed += future.get();
            }
            claimed += claimRest(stores.get(0));

            assertThat(claimed).isEqualTo(120);
        } finally {
            pool.shutdown();
            stores.forEach(Store::close);
        }
    }

    private static Store ofDataSource(Path file) {
        var dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite:" + file);
        return JdbcStores.open(Configs.of(dataSource));
    }

    private static int triggerAndClaim(Store store, int times) {
        int claimed = 0;
        for (int i = 0; i < times; i++) {
            store.triggerAll(List.of(newRun()));
            claimed += store.claim(claimOf(2)).runs().size();
        }
        return claimed;
    }

    private static int claimRest(Store store) {
        return store.claim(claimOf(1000)).runs().size();
    }
}
