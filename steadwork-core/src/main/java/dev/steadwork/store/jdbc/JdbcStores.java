package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidArgument;
import dev.steadwork.store.Store;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store that fits a URL or a data source. */
public final class JdbcStores {
    private static final String POSTGRES_PREFIX = "jdbc:postgresql:";
    private static final Pattern USER_BEFORE_HOST = Pattern.compile("jdbc:postgresql://[^/?]*@");
    private static final Pattern SCHEME = Pattern.compile("(?:[a-z0-9+.-]+:){1,2}");

    private JdbcStores() {}

    public static Store open(StoreConfig config) {
        Database.checkSchemaName(config.schema());
        if (config.poolSize() < 1) {
            throw new InvalidArgument("poolSize is %d; it must be at least 1.".formatted(config.poolSize()));
        }
        if (config.dataSource() != null) {
            return open(config.dataSource(), config);
        }
        if (config.url() == null) {
            throw new InvalidArgument("Neither a URL nor a data source is given.");
        }
        return open(config.url(), config);
    }

    private static Store open(String url, StoreConfig config) {
        if (url.startsWith(SqliteUrl.PREFIX)) {
            return openSqlite(url, config, UnaryOperator.identity());
        }
        if (url.startsWith(POSTGRES_PREFIX)) {
            refuseUserBeforeHost(url);
            refuseUnreadable(url);
            var dialect = new PostgresDialect();
            return postgres(PostgresAccess.pool(url, config, dialect), postgresPlace(url), dialect, config);
        }
        throw new InvalidArgument(
                "%s is not supported; a URL begins with jdbc:sqlite: or jdbc:postgresql:.".formatted(schemeOf(url)));
    }

    /** @param through what every connection is opened through: tests count there what is executed */
    static Store openSqlite(String url, StoreConfig config, UnaryOperator<DataSource> through) {
        var location = SqliteUrl.parse(url);
        location.check();
        var dialect = new SqliteDialect();
        var access = SqliteAccess.of(location, dialect, through);
        open(access, location);
        return sqlite(access, location, access::foreignCommits, dialect, config);
    }

    private static void open(SqliteAccess access, SqliteUrl location) {
        try {
            access.open();
        } catch (RuntimeException e) {
            access.close();
            throw SqlErrors.translate(e, "opening " + location.place());
        }
    }

    private static Store open(DataSource dataSource, StoreConfig config) {
        var product = Product.of(dataSource);
        switch (product.name) {
            case "SQLite" -> {
                var location = SqliteUrl.parse(product.url == null ? SqliteUrl.PREFIX : product.url);
                var dialect = new SqliteDialect();
                // The application's connections come and go, so the database cannot tell our own commits from others.
                var everyChange = new AtomicInteger();
                return sqlite(
                        SqliteAccess.of(dataSource, dialect), location, everyChange::incrementAndGet, dialect, config);
            }
            case "PostgreSQL" -> {
                var dialect = new PostgresDialect();
                var place = product.url == null ? "Postgres" : postgresPlace(product.url);
                return postgres(PostgresAccess.of(dataSource, dialect), place, dialect, config);
            }
            default ->
                throw new InvalidArgument(
                        "The data source is of %s; supported are SQLite and PostgreSQL.".formatted(product.name));
        }
    }

    private static Store sqlite(
            Access access, SqliteUrl location, IntSupplier foreignCommits, Dialect dialect, StoreConfig config) {
        var database = new Database(access, dialect, config.schema(), location.place());
        var watch = location.file() == null ? null : new SqliteWatch(location.file(), foreignCommits);
        return new SqliteStore(database, config, new Migrations(database), watch);
    }

    private static Store postgres(Access access, String place, Dialect dialect, StoreConfig config) {
        var database = new Database(access, dialect, config.schema(), place);
        try {
            return new PostgresStore(database, config, new Migrations(database));
        } catch (RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** What kind of database is behind a data source. */
    private record Product(String name, @Nullable String url) {
        static Product of(DataSource dataSource) {
            try (var connection = dataSource.getConnection()) {
                var metaData = connection.getMetaData();
                return new Product(metaData.getDatabaseProductName(), metaData.getURL());
            } catch (SQLException e) {
                throw SqlErrors.translate(e, "asking the data source which database it is");
            }
        }
    }

    /** Host, port and database: what stands between the slashes and the parameters, without user and password. */
    private static String postgresPlace(String url) {
        var address = url.substring(POSTGRES_PREFIX.length()).replaceFirst("^//", "");
        int parameters = address.indexOf('?');
        var plain = parameters < 0 ? address : address.substring(0, parameters);
        return "Postgres at " + plain.substring(plain.lastIndexOf('@') + 1);
    }

    /** The driver would take them for a part of the host's name, and print it. */
    private static void refuseUserBeforeHost(String url) {
        if (USER_BEFORE_HOST.matcher(url).lookingAt()) {
            throw new InvalidArgument(
                    "The URL has a user or a password before the host, which Postgres's driver does not read. Give them with user(...) and password(...).");
        }
    }

    private static void refuseUnreadable(String url) {
        if (!new org.postgresql.Driver().acceptsURL(url)) {
            throw new InvalidArgument(
                    "The URL of %s cannot be read by Postgres's driver; it must be jdbc:postgresql://host:port/database, with parameters after a question mark."
                            .formatted(postgresPlace(url)));
        }
    }

    /** Only the beginning: the rest may hold a password. */
    private static String schemeOf(String url) {
        var scheme = SCHEME.matcher(url);
        return scheme.lookingAt() ? "A URL that begins with " + scheme.group() : "This URL";
    }
}
