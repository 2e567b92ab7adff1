package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.RunStatus;
import dev.steadwork.SteadworkException;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Unavailable;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

/** What is special about a database that is a file, or no file at all. */
@Proves("STORE-1")
class SqliteFileTest {
    @TempDir
    Path directory;

    private final AtomicInteger gaps = new AtomicInteger();

    private Store open(Path file) {
        var store = JdbcStores.open(Configs.of("jdbc:sqlite:" + file));
        store.migrate();
        return store;
    }

    private static NewRun newRun() {
        return new NewRun(
                RunIds.next("default", null),
                "default",
                "checkout",
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

    @Test
    @Proves("CLAIM-7")
    void what_another_process_commits_is_noticed() {
        var file = directory.resolve("app.db");
        try (var mine = openWatched(file);
                var other = open(file)) {
            other.triggerAll(List.of(newRun()));

            await().atMost(Duration.ofSeconds(10)).until(() -> gaps.get() > 0);
        }
    }

    @Test
    @Proves({"CLAIM-7", "TRIG-7"})
    void what_the_application_commits_is_noticed() throws SQLException {
        var file = directory.resolve("app.db");
        try (var store = openWatched(file);
                var connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            connection.setAutoCommit(false);

            store.triggerIn(connection, List.of(newRun()));
            connection.commit();

            await().atMost(Duration.ofSeconds(10)).until(() -> gaps.get() > 0);
        }
    }

    @Test
    void our_own_commits_and_looking_are_not_taken_for_others() {
        try (var store = openWatched(directory.resolve("app.db"))) {
            await().during(Duration.ofMillis(500))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> {
                        store.triggerAll(List.of(newRun()));
                        store.claim(claimOf(5));
                        return gaps.get() == 0;
                    });
        }
    }

    /** Opens a store and counts its gaps after the first, which any change at the beginning makes. */
    private Store openWatched(Path file) {
        var store = JdbcStores.open(Configs.of("jdbc:sqlite:" + file));
        store.signals().subscribe(new Signals.Listener() {
            @Override
            public void gap() {
                gaps.incrementAndGet();
            }
        });
        store.migrate();
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            store.triggerAll(List.of(newRun()));
            return gaps.get() > 0;
        });
        gaps.set(0);
        return store;
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
