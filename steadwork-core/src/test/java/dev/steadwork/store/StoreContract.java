package dev.steadwork.store;

import dev.steadwork.store.jdbc.JdbcStores;
import dev.steadwork.store.jdbc.StoreConfig;
import dev.steadwork.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The rules that every store keeps. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreContract
        implements TriggerRules,
                ClaimRules,
                FenceRules,
                CommitterRules,
                TimerRules,
                LimitRules,
                MessageRules,
                ScheduleRules,
                OperatorRules,
                ForkRules,
                BulkRules,
                QueryRules,
                RegistryRules,
                NamespaceRules,
                RetentionRules,
                EventRules,
                OutboxRules {
    private final String url;
    private final boolean listen;
    private Store store;
    private int tests;

    StoreContract(TestDatabase database) {
        this(database.newUrl(), true);
    }

    StoreContract(String url, boolean listen) {
        this.url = url;
        this.listen = listen;
    }

    @BeforeAll
    void open() {
        store = openAnother(STALE_AFTER);
        store.migrate();
        store.checkSchema();
    }

    @BeforeEach
    void useANewNamespace() {
        tests++;
    }

    @AfterAll
    void close() {
        store.close();
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public String namespace() {
        return "test-" + tests;
    }

    @Override
    public Store openAnother(Duration staleAfter) {
        return JdbcStores.open(new StoreConfig(url, null, null, null, "steadwork", 10, listen, staleAfter));
    }

    @Override
    public Connection connect() throws SQLException {
        var connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }
}
