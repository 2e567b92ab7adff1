package dev.steadwork.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/** Connections to SQLite: one that writes, a few that read. */
final class SqliteAccess implements Access {
    private static final int BUSY_TIMEOUT_MILLIS = 10_000;
    private static final int READERS = 4;

    private final SqliteWriter writer;
    private final @Nullable Readers readers;

    private SqliteAccess(SqliteWriter writer, @Nullable Readers readers) {
        this.writer = writer;
        this.readers = readers;
    }

    private record Readers(
            DataSource dataSource, Jdbi jdbi, @Nullable HikariDataSource ownPool) {}

    /** @param through what every connection is opened through */
    static SqliteAccess of(SqliteUrl url, Dialect dialect, UnaryOperator<DataSource> through) {
        var writing = jdbi(through.apply(writerSource(url)), dialect);
        var writer = new SqliteWriter(() -> keepingStatements(writing.open()), true);
        if (url.isInMemory()) {
            return new SqliteAccess(writer, null);
        }
        var pool = readerPool(through.apply(readerSource(url)));
        return new SqliteAccess(writer, new Readers(pool, jdbi(pool, dialect), pool));
    }

    /** Opens the connection that writes. A file that is no database is told now, and not when the pool loses patience. */
    void open() {
        writer.exclusively(handle -> handle);
    }

    /** The application's own connections, with its own settings: only the order of writers is ours. */
    static SqliteAccess of(DataSource dataSource, Dialect dialect) {
        var jdbi = jdbi(dataSource, dialect);
        var readers = new Readers(dataSource, jdbi, null);
        return new SqliteAccess(new SqliteWriter(jdbi::open, false), readers);
    }

    private static Jdbi jdbi(DataSource source, Dialect dialect) {
        var jdbi = Jdbi.create(source);
        dialect.configure(jdbi);
        return jdbi;
    }

    private static Handle keepingStatements(Handle handle) {
        return handle.setStatementBuilder(new KeptStatements());
    }

    private static DataSource writerSource(SqliteUrl url) {
        var settings = new SQLiteConfig();
        settings.setBusyTimeout(BUSY_TIMEOUT_MILLIS);
        settings.setJournalMode(SQLiteConfig.JournalMode.WAL);
        settings.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        // Otherwise the driver asks for the last row id after every insert.
        settings.setGetGeneratedKeys(false);
        return source(url, settings);
    }

    private static DataSource readerSource(SqliteUrl url) {
        var settings = new SQLiteConfig();
        settings.setBusyTimeout(BUSY_TIMEOUT_MILLIS);
        return source(url, settings);
    }

    private static HikariDataSource readerPool(DataSource source) {
        var pool = new HikariConfig();
        pool.setPoolName("steadwork");
        pool.setDataSource(source);
        pool.setConnectionInitSql("PRAGMA query_only = ON");
        pool.setMaximumPoolSize(READERS);
        pool.setMinimumIdle(0);
        pool.setConnectionTimeout(BUSY_TIMEOUT_MILLIS);
        pool.setInitializationFailTimeout(-1);
        return new HikariDataSource(pool);
    }

    private static DataSource source(SqliteUrl url, SQLiteConfig settings) {
        var source = new SQLiteDataSource(settings);
        source.setUrl(url.url());
        return source;
    }

    @Override
    public DataSource dataSource() {
        return readers().dataSource;
    }

    @Override
    public Jdbi jdbi() {
        return readers().jdbi;
    }

    private Readers readers() {
        if (readers == null) {
            throw new IllegalStateException("A database in memory has one connection only; use read or inTransaction.");
        }
        return readers;
    }

    @Override
    public <T> T read(HandleCallback<T, RuntimeException> work) {
        if (readers == null) {
            return writer.exclusively(work);
        }
        if (readers.ownPool != null) {
            // First, because what is wrong with the file is told by its own error and not by that of the pool.
            writer.open();
        }
        return readers.jdbi.withHandle(work);
    }

    /** On the connection that writes, whose statements are prepared: a pool would first ask whether its connection lives. */
    @Override
    public <T> T look(HandleCallback<T, RuntimeException> work) {
        return writer.exclusively(work);
    }

    @Override
    public <T> T inTransaction(HandleCallback<T, RuntimeException> work) {
        return writer.inTransaction(work);
    }

    @Override
    public boolean isInTransaction() {
        return writer.isHeld();
    }

    /** How often other connections have committed, as the writing connection sees it. */
    int foreignCommits() {
        return writer.exclusively(handle -> SqliteStatement.of(handle, "PRAGMA data_version")
                .first(row -> row.getInt("data_version"))
                .orElseThrow());
    }

    @Override
    public void close() {
        if (readers != null && readers.ownPool != null) {
            readers.ownPool.close();
        }
        writer.close();
    }
}
