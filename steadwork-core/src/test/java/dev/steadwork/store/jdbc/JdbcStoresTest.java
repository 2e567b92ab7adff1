package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.RunQuery;
import dev.steadwork.Unauthorized;
import dev.steadwork.Unavailable;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteDataSource;

/** A URL or a data source finds its store, or a refusal that says why and gives away no password. */
class JdbcStoresTest {
    private static final RunQuery.Filter ALL =
            new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, false);

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:mysql://root:secret@db/app", "postgres://app:secret@db/app", "secret", ""})
    void an_unknown_url_is_refused_with_what_is_supported(String url) {
        assertThatThrownBy(() -> JdbcStores.open(Configs.of(url)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("jdbc:sqlite:")
                .hasMessageContaining("jdbc:postgresql:")
                .hasMessageNotContaining("secret");
    }

    @Test
    @Proves("STORE-3")
    void a_postgres_that_is_down_is_unavailable_and_named() {
        var url = "jdbc:postgresql://localhost:1/app?user=app&password=secret&connectTimeout=1";
        var config = new StoreConfig(url, null, "app", "secret", "steadwork", 2, true, Duration.ofSeconds(60));
        try (var store = JdbcStores.open(config)) {
            assertThatThrownBy(store::checkSchema)
                    .isInstanceOf(Unavailable.class)
                    .hasMessageContaining("localhost:1/app")
                    .hasMessageNotContaining("secret");
        }
    }

    @Test
    @Proves("STORE-3")
    void a_user_whom_postgres_refuses_is_unauthorized() {
        var url = TestDatabase.POSTGRES.newUrl().replace("user=postgres", "user=nobody");
        var config = new StoreConfig(url, null, null, "secret", "steadwork", 2, true, Duration.ofSeconds(60));
        try (var store = JdbcStores.open(config)) {
            assertThatThrownBy(store::checkSchema)
                    .isInstanceOf(Unauthorized.class)
                    .hasMessageNotContaining("secret");
        }
    }

    @Test
    @Proves("STORE-3")
    void a_closed_store_is_unavailable() {
        var store = JdbcStores.open(Configs.of(TestDatabase.SQLITE.newUrl()));
        store.migrate();
        store.close();

        assertThatThrownBy(() -> store.count("default", ALL))
                .isInstanceOf(Unavailable.class)
                .hasMessageContaining("closed");
    }

    @Test
    @Proves("STORE-1")
    void the_applications_own_data_source_is_used_and_left_open() throws Exception {
        var postgres = new PGSimpleDataSource();
        postgres.setUrl(TestDatabase.POSTGRES.newUrl());
        var sqlite = new SQLiteDataSource();
        sqlite.setUrl(TestDatabase.SQLITE.newUrl());
        for (var dataSource : List.<DataSource>of(postgres, sqlite)) {
            try (var store = JdbcStores.open(Configs.of(dataSource))) {
                store.migrate();
                store.checkSchema();
                assertThat(store.count("default", ALL)).isZero();
            }
            dataSource.getConnection().close();
        }
    }

    @Test
    void a_configuration_does_not_tell_its_secrets() {
        var config = new StoreConfig(
                "jdbc:postgresql://h/db?password=s3cret",
                null,
                "me",
                "s3cret",
                "steadwork",
                5,
                true,
                Duration.ofSeconds(60));

        assertThat(config.toString()).doesNotContain("s3cret");
    }
}
