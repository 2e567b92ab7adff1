package dev.steadwork.store.jdbc;

import java.time.Duration;
import javax.sql.DataSource;

/** Plain settings of a store. */
final class Configs {
    private static final Duration STALE_AFTER = Duration.ofSeconds(60);

    private Configs() {}

    static StoreConfig of(String url) {
        return of(url, "steadwork");
    }

    static StoreConfig of(String url, String schema) {
        return new StoreConfig(url, null, null, null, schema, 4, true, STALE_AFTER);
    }

    static StoreConfig of(DataSource dataSource) {
        return new StoreConfig(null, dataSource, null, null, "steadwork", 4, true, STALE_AFTER);
    }
}
