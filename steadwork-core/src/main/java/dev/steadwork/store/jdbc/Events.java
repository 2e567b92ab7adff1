package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.RunEvent;
import dev.steadwork.RunId;
import dev.steadwork.store.Claimed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/**
 * Records what happens to runs, in the transaction in which it happens: as events, and in the outbox. Where no namespace wants
 * it, nothing is sent to the database.
 */
abstract class Events {
    protected final Database database;
    private final Namespaces namespaces;
    private final KnownNamespaces known;
    private final Set<String> claimedFrom = ConcurrentHashMap.newKeySet();

    Events(Database database) {
        this.database = database;
        this.namespaces = new Namespaces(database);
        this.known = new KnownNamespaces(database, namespaces);
    }

    Namespaces namespaces() {
        return namespaces;
    }

    KnownNamespaces known() {
        return known;
    }

    /** Whether a namespace wants to be told, as far as is known. */
    boolean areWanted(String namespace) {
        return known.records(namespace);
    }

    /** Whether one of the namespaces does whose runs this process claims: of others it writes nothing as a worker. */
    boolean areWantedByWorkers() {
        return known.recordsAny() && claimedFrom.stream().anyMatch(known::records);
    }

    /** Whether those who claim from this namespace have to tell. */
    boolean claimsFrom(String namespace) {
        claimedFrom.add(namespace);
        return areWanted(namespace);
    }

    /** If some namespace wants it. */
    final void add(Handle handle, NewEvent event) {
        if (known.recordsAny()) {
            append(handle, List.of(event));
        }
    }

    /** Keeps those that their namespaces want, in this order. */
    abstract void append(Handle handle, List<NewEvent> events);

    static List<NewEvent> leased(Claimed claimed, String worker) {
        var events = new ArrayList<NewEvent>();
        for (var run : claimed.runs()) {
            events.addAll(NewEvent.leased(run, worker, claimed.now()));
        }
        return events;
    }

    List<RunEvent> of(RunId run) {
        var sql = """
                SELECT number, kind, happened_at, worker, step, attempt, detail, actor, reason
                  FROM steadwork.event
                 WHERE shard = :shard
                   AND run_id = :run
                 ORDER BY number
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .map(Events::event)
                .list());
    }

    private static RunEvent event(RowView row) {
        return new RunEvent(
                row.getColumn("number", Long.class),
                kind(row.getColumn("kind", String.class)),
                row.getColumn("happened_at", Instant.class),
                Rows.text(row, "worker"),
                Rows.text(row, "step"),
                row.getColumn("attempt", Integer.class),
                Rows.text(row, "detail"),
                Rows.text(row, "actor"),
                Rows.text(row, "reason"));
    }

    static EventKind kind(String label) {
        return EventKind.valueOf(label.toUpperCase(Locale.ROOT));
    }

    static @Nullable String storable(@Nullable String text) {
        return text == null ? null : Rows.storable(text);
    }
}
