package dev.steadwork.store.jdbc;

import dev.steadwork.store.jdbc.Notifications.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other processes what happened, some milliseconds' worth at a time: at once if it has been quiet, and not as part of
 * larger transactions, because a commit that notifies waits for all others that do. Idle, it sends nothing.
 */
final class Notifier implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Notifier.class);
    private static final long PAUSE_OF_ENDED = TimeUnit.MILLISECONDS.toNanos(50);
    private static final Duration LAST_WAIT = Duration.ofSeconds(1);

    /** Nanoseconds from one message to the next, over a while. Of ended runs only who awaits them wants to know. */
    static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(4);

    /** So many may follow each other at once. */
    static final int BURST = 4;

    private final Database database;
    private final Trips trips;
    private final Notifications notifications;
    private final Thread thread = new Thread(this::run, "steadwork-notifier");

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<Kind, Set<Integer>> waiting = new EnumMap<>(Kind.class);
    private final Map<Kind, Long> nextFrom = new EnumMap<>(Kind.class);
    private boolean closed;

    Notifier(Database database, Trips trips, Notifications notifications) {
        this.database = database;
        this.trips = trips;
        this.notifications = notifications;
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns at once. */
    void tell(Kind kind, Collection<Integer> hashes) {
        if (hashes.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            waiting.computeIfAbsent(kind, first -> new HashSet<>()).addAll(hashes);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Tells every process, this one too, of ready runs, if and when the connection's transaction commits. */
    void tellOnCommit(Connection connection, Collection<Integer> topics) throws SQLException {
        var payloads = Notifications.payloadsForAll(Kind.READY, topics);
        if (!payloads.isEmpty()) {
            var pipeline = new Pipeline(database);
            addNotify(pipeline, payloads);
            pipeline.run(connection);
        }
    }

    /** Lets a transaction with ready runs tell of them itself, unless too much was told lately. Whether it does. */
    boolean tryTellOnCommit(Pipeline transaction, Collection<Integer> topics) {
        lock.lock();
        try {
            long now = System.nanoTime();
            if (topics.isEmpty() || waiting.containsKey(Kind.READY) || waitOf(Kind.READY, now) > 0) {
                return false;
            }
            sent(Kind.READY, now);
        } finally {
            lock.unlock();
        }
        addNotify(transaction, notifications.payloads(Kind.READY, topics));
        return true;
    }

    private void addNotify(Pipeline pipeline, List<String> payloads) {
        var sql = """
                SELECT pg_notify(:channel, p.payload)
                  FROM unnest(:payloads) AS p (payload)
                """;
        pipeline.add(sql, values(payloads), row -> {});
    }

    private Map<String, Object> values(List<String> payloads) {
        return Map.of("channel", notifications.channel(), "payloads", Columns.textArray(payloads));
    }

    private void run() {
        try {
            for (var payloads = next(); !payloads.isEmpty(); payloads = next()) {
                send(payloads);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send(List<String> payloads) {
        try {
            trips.autocommit(connection -> {
                // A hint may be lost: its transaction does not wait for the disk.
                var sql = """
                        WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
                        SELECT pg_notify(:channel, p.payload)
                          FROM setting
                         CROSS JOIN unnest(:payloads) AS p (payload)
                        """;
                new Pipeline(database).add(sql, values(payloads), row -> {}).run(connection);
                return payloads;
            });
        } catch (RuntimeException e) {
            LOG.debug("A notification was not sent; other processes will find out when they poll.", e);
        }
    }

    /** Waits until something may be sent; nothing once closed. */
    private List<String> next() throws InterruptedException {
        lock.lock();
        try {
            while (!closed) {
                long now = System.nanoTime();
                var payloads = takeDue(now);
                if (!payloads.isEmpty()) {
                    return payloads;
                }
                awaitChange(now);
            }
            return List.of();
        } finally {
            lock.unlock();
        }
    }

    private List<String> takeDue(long now) {
        var payloads = new ArrayList<String>();
        for (var kind : Kind.values()) {
            var hashes = waiting.get(kind);
            if (hashes != null && waitOf(kind, now) <= 0) {
                payloads.addAll(notifications.payloads(kind, hashes));
                waiting.remove(kind);
                sent(kind, now);
            }
        }
        return payloads;
    }

    private void awaitChange(long now) throws InterruptedException {
        if (waiting.isEmpty()) {
            changed.await();
        } else {
            long shortest = Long.MAX_VALUE;
            for (var kind : waiting.keySet()) {
                shortest = Math.min(shortest, waitOf(kind, now));
            }
            changed.awaitNanos(shortest);
        }
    }

    private long waitOf(Kind kind, long now) {
        return nextFrom.getOrDefault(kind, now) - now;
    }

    /** What was not told while it was quiet may be told now, up to a burst. */
    private void sent(Kind kind, long now) {
        long pause = kind == Kind.ENDED ? PAUSE_OF_ENDED : PAUSE;
        long unused = Math.min(-waitOf(kind, now), (BURST - 1) * pause);
        nextFrom.put(kind, now - unused + pause);
    }

    /** Returns when the hint that is on its way has been sent. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(LAST_WAIT.toMillis());
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
        }
    }
}
