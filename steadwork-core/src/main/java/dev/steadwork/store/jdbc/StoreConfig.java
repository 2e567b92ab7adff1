package dev.steadwork.store.jdbc;

import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where and how runs are kept.
 *
 * @param url a {@code jdbc:sqlite:} or {@code jdbc:postgresql:} URL; null if a data source is given
 * @param dataSource the application's own data source; the store does not close it
 * @param schema the Postgres schema, or the prefix of the table names on SQLite
 * @param poolSize how many connections the store's own pool may open
 * @param listen whether to hear other processes by LISTEN; switch it off behind PgBouncer in transaction mode
 * @param staleAfter how long after its last heartbeat a worker no longer counts as online
 */
public record StoreConfig(
        @Nullable String url,
        @Nullable DataSource dataSource,
        @Nullable String user,
        @Nullable String password,
        String schema,
        int poolSize,
        boolean listen,
        Duration staleAfter) {

    /** Without the URL and the password, which must not end up in logs. */
    @Override
    public String toString() {
        return "StoreConfig[schema=%s, poolSize=%d, listen=%s, staleAfter=%s]"
                .formatted(schema, poolSize, listen, staleAfter);
    }
}
