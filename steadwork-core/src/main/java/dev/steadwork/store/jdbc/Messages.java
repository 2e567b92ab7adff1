package dev.steadwork.store.jdbc;

import dev.steadwork.EventKind;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.By;
import dev.steadwork.store.Received;
import dev.steadwork.store.Write;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The inboxes of runs: signals wait there, numbered in the order they came, until they are taken. */
final class Messages {
    private final Database database;
    private final JdbcStore store;
    private final Families families;
    private final Events events;
    private final By by;

    Messages(Database database, JdbcStore store, Families families, Events events, By by) {
        this.database = database;
        this.store = store;
        this.families = families;
        this.events = events;
        this.by = by;
    }

    void signal(RunId run, String name, Payload payload) {
        var effects = database.inTransaction(handle -> {
            var told = new Effects();
            var now = database.now(handle);
            var number = families.wake(handle, run, Write.Awaits.signal(name), now, told);
            if (number == null) {
                throw refusal(handle, run, name);
            }
            insert(handle, run, number, name, payload);
            events.add(handle, NewEvent.of(run, EventKind.SIGNALLED, name, by));
            return told;
        });
        effects.tell(store);
    }

    private void insert(Handle handle, RunId run, int number, String name, Payload payload) {
        var sql = """
                INSERT INTO steadwork.signal
                    (shard, run_id, number, name, sent_at, payload_type, payload)
                VALUES
                    (:shard, :run, :number, :name, :now, :payloadType, :payload)
                """;
        handle.createUpdate(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("number", number)
                .bind("name", name)
                .bind("now", database.now(handle))
                .bind("payloadType", Rows.payloadType(payload))
                .bind("payload", Rows.payloadBytes(payload))
                .execute();
    }

    private RuntimeException refusal(Handle handle, RunId run, String name) {
        var sql = """
                SELECT status
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                """;
        Optional<RunStatus> status = handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .mapTo(RunStatus.class)
                .findOne();
        if (status.isEmpty()) {
            return new NotFound("There is no run %s, so it cannot get signal '%s'.".formatted(run, name));
        }
        var state = status.get().isTerminal() ? status.get().name() : "deleted";
        return new InvalidState(
                "Run %s is %s: nobody will take signal '%s'. Look at the run's status before, or signal the run that took its place."
                        .formatted(run, state, name));
    }

    /** The number of messages and the signal are of one moment. */
    Received received(RunId run, String name) {
        var sql = """
                SELECT coalesce(r.inbox, 0) AS inbox, s.number, s.payload_type, s.payload
                  FROM steadwork.run r
                  LEFT JOIN steadwork.signal s
                    ON s.shard = r.shard
                   AND s.run_id = r.run_id
                   AND s.name = :name
                 WHERE r.shard = :shard
                   AND r.run_id = :run
                 ORDER BY s.number
                 LIMIT 1
                """;
        return database.read(handle -> handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run)
                .bind("name", name)
                .map(row -> {
                    @Nullable Integer number = row.getColumn("number", Integer.class);
                    var signal = number == null ? null : new Received.Signal(number, Rows.payload(row, "payload"));
                    return new Received(row.getColumn("inbox", Integer.class), signal);
                })
                .findOne()
                .orElseThrow(() -> new NotFound("There is no run %s.".formatted(run))));
    }
}
