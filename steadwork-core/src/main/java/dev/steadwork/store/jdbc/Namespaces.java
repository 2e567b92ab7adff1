package dev.steadwork.store.jdbc;

import dev.steadwork.Conflict;
import dev.steadwork.EventKind;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.NotFound;
import dev.steadwork.PayloadLimits;
import dev.steadwork.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/** The settings of namespaces, as they stand in the database. */
final class Namespaces {
    private final Database database;

    Namespaces(Database database) {
        this.database = database;
    }

    NamespaceInfo create(NamespaceInfo namespace) {
        var sql = """
                INSERT INTO steadwork.namespace
                    (namespace, version, created_at, updated_at, disabled_at, keep_completed, keep_failed, keep_cancelled,
                     keep_deleted, audit, outbox, warn_bytes, max_bytes, retry)
                SELECT :namespace, :version, :now, :now, :disabledAt, :keepCompleted, :keepFailed, :keepCancelled,
                       :keepDeleted, :audit, :outbox, :warnBytes, :maxBytes, :retry
                 WHERE NOT EXISTS (
                       SELECT 1
                         FROM steadwork.namespace
                        WHERE namespace = :namespace)
                """;
        return database.inTransaction(handle -> {
            int created = bind(handle.createUpdate(database.sql(sql)), handle, namespace)
                    .execute();
            if (created == 0) {
                throw new Conflict("Namespace %s exists already. Change it with namespaces().update(...)."
                        .formatted(namespace.name()));
            }
            return find(handle, namespace.name()).orElseThrow();
        });
    }

    /** The change is made outside the transaction, because it may be code that uses the database itself. */
    NamespaceInfo update(String name, UnaryOperator<NamespaceInfo> change) {
        Optional<NamespaceInfo> updated;
        do {
            var before = database.read(handle -> find(handle, name)).orElseThrow(() -> unknown(name));
            updated = replaceIfUnchanged(before, change.apply(before));
        } while (updated.isEmpty());
        return updated.get();
    }

    private Optional<NamespaceInfo> replaceIfUnchanged(NamespaceInfo before, NamespaceInfo after) {
        return database.inTransaction(handle -> {
            database.dialect().lockMigrations(handle, database.schema());
            if (!find(handle, before.name()).equals(Optional.of(before))) {
                return Optional.empty();
            }
            replace(handle, after);
            return find(handle, before.name());
        });
    }

    NamespaceInfo enable(String name, boolean enabled) {
        return database.inTransaction(handle -> {
            database.dialect().lockMigrations(handle, database.schema());
            var before = find(handle, name).orElseThrow(() -> unknown(name));
            if (before.isDisabled() == enabled) {
                replace(handle, disabledAt(before, enabled ? null : database.now(handle)));
            }
            return find(handle, name).orElseThrow();
        });
    }

    private static NamespaceInfo disabledAt(NamespaceInfo n, @Nullable Instant time) {
        return new NamespaceInfo(
                n.name(),
                n.createdAt(),
                n.updatedAt(),
                time,
                n.retention(),
                n.audit(),
                n.outbox(),
                n.payloadLimits(),
                n.retry());
    }

    private void replace(Handle handle, NamespaceInfo namespace) {
        var sql = """
                UPDATE steadwork.namespace
                   SET version = :version,
                       updated_at = :now,
                       disabled_at = :disabledAt,
                       keep_completed = :keepCompleted,
                       keep_failed = :keepFailed,
                       keep_cancelled = :keepCancelled,
                       keep_deleted = :keepDeleted,
                       audit = :audit,
                       outbox = :outbox,
                       warn_bytes = :warnBytes,
                       max_bytes = :maxBytes,
                       retry = :retry
                 WHERE namespace = :namespace
                """;
        bind(handle.createUpdate(database.sql(sql)), handle, namespace).execute();
    }

    /** Under the lock: versions are committed in their order, so that nobody who saw a later one misses an earlier one. */
    private <S extends SqlStatement<S>> S bind(S statement, Handle handle, NamespaceInfo namespace) {
        database.dialect().lockMigrations(handle, database.schema());
        var keep = namespace.retention();
        var limits = namespace.payloadLimits();
        return statement
                .bind("namespace", namespace.name())
                .bind("version", version(handle) + 1)
                .bind("now", database.now(handle))
                .bindByType("disabledAt", namespace.disabledAt(), Instant.class)
                .bind("keepCompleted", micros(keep.completed()))
                .bind("keepFailed", micros(keep.failed()))
                .bind("keepCancelled", micros(keep.cancelled()))
                .bind("keepDeleted", micros(keep.deleted()))
                .bind("audit", namespace.audit())
                .bind("outbox", kindsJson(namespace.outbox()))
                .bind("warnBytes", limits == null ? null : (Integer) limits.warnBytes())
                .bind("maxBytes", limits == null ? null : (Integer) limits.maxBytes())
                .bind("retry", Rows.retryJson(namespace.retry()));
    }

    /** Changes whenever a namespace does; 0 if there is none. */
    long version(Handle handle) {
        var sql = """
                SELECT coalesce(max(version), 0)
                  FROM steadwork.namespace
                """;
        return handle.createQuery(database.sql(sql)).mapTo(Long.class).one();
    }

    NamespaceInfo find(String name) {
        return database.read(handle -> find(handle, name)).orElseGet(() -> NamespaceInfo.defaults(name));
    }

    private Optional<NamespaceInfo> find(Handle handle, String name) {
        var sql = """
                SELECT namespace, created_at, updated_at, disabled_at, keep_completed, keep_failed, keep_cancelled,
                       keep_deleted, audit, outbox, warn_bytes, max_bytes, retry
                  FROM steadwork.namespace
                 WHERE namespace = :namespace
                """;
        return handle.createQuery(database.sql(sql))
                .bind("namespace", name)
                .map(Namespaces::info)
                .findOne();
    }

    List<NamespaceInfo> list(Handle handle) {
        var sql = """
                SELECT namespace, created_at, updated_at, disabled_at, keep_completed, keep_failed, keep_cancelled,
                       keep_deleted, audit, outbox, warn_bytes, max_bytes, retry
                  FROM steadwork.namespace
                """;
        return handle.createQuery(database.sql(sql)).map(Namespaces::info).list();
    }

    private static NamespaceInfo info(RowView row) {
        @Nullable Integer warnBytes = row.getColumn("warn_bytes", Integer.class);
        @Nullable Integer maxBytes = row.getColumn("max_bytes", Integer.class);
        return new NamespaceInfo(
                row.getColumn("namespace", String.class),
                row.getColumn("created_at", Instant.class),
                row.getColumn("updated_at", Instant.class),
                Rows.time(row, "disabled_at"),
                new NamespaceInfo.Retention(
                        duration(row, "keep_completed"),
                        duration(row, "keep_failed"),
                        duration(row, "keep_cancelled"),
                        duration(row, "keep_deleted")),
                row.getColumn("audit", Boolean.class),
                kinds(Rows.text(row, "outbox")),
                warnBytes == null || maxBytes == null ? null : new PayloadLimits(warnBytes, maxBytes),
                retry(Rows.text(row, "retry")));
    }

    private static @Nullable RetryPolicy retry(@Nullable String json) {
        return json == null ? null : Rows.retry(json);
    }

    private static @Nullable Long micros(@Nullable Duration time) {
        return time == null ? null : (Long) Columns.micros(time);
    }

    private static @Nullable Duration duration(RowView row, String column) {
        @Nullable Long micros = row.getColumn(column, Long.class);
        return micros == null ? null : Duration.of(micros, ChronoUnit.MICROS);
    }

    private static @Nullable String kindsJson(Set<EventKind> kinds) {
        return kinds.isEmpty()
                ? null
                : Rows.listJson(
                        new TreeSet<>(kinds).stream().map(EventKind::label).toList());
    }

    /** A kind that a newer version knows and this one does not is left to that one. */
    private static Set<EventKind> kinds(@Nullable String json) {
        return json == null
                ? Set.of()
                : Set.of(EventKind.values()).stream()
                        .filter(kind -> json.contains('"' + kind.label() + '"'))
                        .collect(Collectors.toSet());
    }

    private static NotFound unknown(String name) {
        return new NotFound(
                "Namespace %s was never created. Create it with namespaces().create(...); until then it works with the defaults."
                        .formatted(name));
    }
}
