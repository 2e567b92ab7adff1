package dev.steadwork.store.jdbc;

import dev.steadwork.store.Store;
import dev.steadwork.testing.CountingDataSource;
import java.util.ArrayList;
import java.util.List;

/** A store on an SQLite URL, whose own connections are counted. */
public final class CountedSqlite implements AutoCloseable {
    private final List<CountingDataSource> sources = new ArrayList<>();
    private final Store store;

    public CountedSqlite(String url) {
        this.store = JdbcStores.openSqlite(url, Configs.of(url), source -> {
            var counting = new CountingDataSource(source);
            sources.add(counting);
            return counting.counted();
        });
        store.migrate();
    }

    public Store store() {
        return store;
    }

    /** How many statements were executed, BEGIN and COMMIT left out. */
    public long statements() {
        return sources.stream().mapToLong(CountingDataSource::statements).sum();
    }

    @Override
    public void close() {
        store.close();
    }
}
