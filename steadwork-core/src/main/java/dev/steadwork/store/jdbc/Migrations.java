package dev.steadwork.store.jdbc;

import dev.steadwork.PreconditionFailed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Brings the schema to the version this code needs, one numbered file and one transaction at a time. */
final class Migrations {
    private final Database database;
    private final List<String> files;

    Migrations(Database database) {
        this.database = database;
        this.files = files(database.dialect());
    }

    /** Applies what is missing; safe when several processes do it at once. */
    void migrate() {
        int found = current();
        for (int version = found + 1; version <= latest(); version++) {
            apply(version);
        }
        if (found != latest()) {
            check();
        }
    }

    /** Refuses a schema of another version, saying what to do. */
    void check() {
        int current = current();
        if (current < latest()) {
            throw new PreconditionFailed(
                    "The schema '%s' in %s has version %d, this version of the library needs %d. Open with migrate(true), or apply the printed migrations."
                            .formatted(database.schema(), database.place(), current, latest()));
        }
        if (current > latest()) {
            throw new PreconditionFailed(
                    "The schema '%s' in %s has version %d, this version of the library knows only up to %d. Upgrade the library."
                            .formatted(database.schema(), database.place(), current, latest()));
        }
    }

    /** The SQL of all versions, for people who apply it by other means. */
    String print() {
        var schema = resource(database.dialect(), "schema.sql");
        var all = new ArrayList<String>();
        if (schema != null) {
            all.add(database.sql(schema));
        }
        files.forEach(file -> all.add(database.sql(file)));
        return String.join("\n", all);
    }

    /** The version this code needs. */
    int latest() {
        return files.size();
    }

    /** The version of the schema, 0 if there is none. */
    int current() {
        return database.read(this::current);
    }

    private int current(Handle handle) {
        if (!database.dialect().hasTable(handle, database.schema(), "schema_version")) {
            return 0;
        }
        var sql = "SELECT max(version) FROM steadwork.schema_version";
        return handle.createQuery(database.sql(sql)).mapTo(Integer.class).one();
    }

    private void apply(int version) {
        database.inTransaction(handle -> {
            database.dialect().lockMigrations(handle, database.schema());
            if (current(handle) < version) {
                createSchema(handle);
                run(handle, files.get(version - 1));
            }
            return version;
        });
    }

    /** Looks first: a user who may not create schemas may still have been given one. */
    private void createSchema(Handle handle) {
        var schema = resource(database.dialect(), "schema.sql");
        if (schema != null && !database.dialect().hasSchema(handle, database.schema())) {
            run(handle, schema);
        }
    }

    private void run(Handle handle, String script) {
        handle.createScript(database.sql(script)).executeAsSeparateStatements();
    }

    private static List<String> files(Dialect dialect) {
        var files = new ArrayList<String>();
        for (var file = resource(dialect, "V1.sql"); file != null; ) {
            files.add(file);
            file = resource(dialect, "V%d.sql".formatted(files.size() + 1));
        }
        return List.copyOf(files);
    }

    private static @Nullable String resource(Dialect dialect, String file) {
        try (var stream = Migrations.class.getResourceAsStream(dialect.name() + "/" + file)) {
            return stream == null ? null : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
