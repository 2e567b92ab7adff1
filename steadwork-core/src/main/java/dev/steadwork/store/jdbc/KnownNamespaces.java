package dev.steadwork.store.jdbc;

import dev.steadwork.NamespaceInfo;
import dev.steadwork.SteadworkException;
import dev.steadwork.store.Signals;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process knows of namespaces. Heartbeats tell whether something changed, and so do other processes where the
 * database can; only who triggers without a worker in the process looks by itself, now and then.
 */
final class KnownNamespaces implements Signals.Listener {
    private static final Logger log = LoggerFactory.getLogger(KnownNamespaces.class);
    private static final long MAX_AGE_NANOS = Duration.ofSeconds(15).toNanos();

    private final Database database;
    private final Namespaces namespaces;
    private volatile @Nullable Snapshot known;
    private volatile long seenAtNanos = System.nanoTime();
    private volatile boolean outdated;
    private final ReentrantLock looking = new ReentrantLock();

    private record Snapshot(long version, Map<String, NamespaceInfo> namespaces, Set<String> recording) {
        static Snapshot of(long version, List<NamespaceInfo> all) {
            return new Snapshot(
                    version,
                    all.stream().collect(Collectors.toUnmodifiableMap(NamespaceInfo::name, Function.identity())),
                    all.stream()
                            .filter(one -> one.audit() || !one.outbox().isEmpty())
                            .map(NamespaceInfo::name)
                            .collect(Collectors.toUnmodifiableSet()));
        }
    }

    KnownNamespaces(Database database, Namespaces namespaces) {
        this.database = database;
        this.namespaces = namespaces;
    }

    /** Looks if it has been a while. Outside transactions: what is asked in them is then known. */
    void refresh() {
        if (isOld()) {
            outdated = true;
        }
        snapshot();
    }

    /** The same in somebody else's transaction, whose connection may be the last one there is. */
    void refresh(Supplier<Handle> caller) {
        if (isOld() || outdated) {
            outdated = false;
            seenAtNanos = System.nanoTime();
            known = read(caller.get(), known);
        }
    }

    private boolean isOld() {
        return known == null || System.nanoTime() - seenAtNanos >= MAX_AGE_NANOS;
    }

    /** As far as is known. */
    NamespaceInfo of(String name) {
        var found = snapshot().namespaces.get(name);
        return found == null ? NamespaceInfo.defaults(name) : found;
    }

    /** Whether what happens to runs of a namespace is to be recorded. Does not look, so it may be asked in a transaction. */
    boolean records(String name) {
        var now = known;
        return now != null && now.recording.contains(name);
    }

    /** Whether any namespace wants that. */
    boolean recordsAny() {
        var now = known;
        return now != null && !now.recording.isEmpty();
    }

    private Snapshot snapshot() {
        var now = known;
        if (now == null) {
            return read(null);
        }
        return outdated ? lookAgain(now) : now;
    }

    /** Nobody waits for somebody else's look, and nothing fails because of it: what is known goes on to be true. */
    private Snapshot lookAgain(Snapshot before) {
        if (!looking.tryLock()) {
            return before;
        }
        try {
            outdated = false; // before the look: what changes meanwhile is told again
            seenAtNanos = System.nanoTime();
            return read(before);
        } catch (SteadworkException unavailable) {
            log.debug("The settings of namespaces cannot be read; those known before are used.", unavailable);
            return before;
        } finally {
            looking.unlock();
        }
    }

    private Snapshot read(@Nullable Snapshot before) {
        var now = database.read(handle -> read(handle, before));
        known = now;
        return now;
    }

    private Snapshot read(Handle handle, @Nullable Snapshot before) {
        long version = namespaces.version(handle);
        return before != null && before.version == version ? before : Snapshot.of(version, namespaces.list(handle));
    }

    /** A heartbeat saw this version. */
    void seen(long version) {
        seenAtNanos = System.nanoTime();
        var now = known;
        if (now != null && now.version != version) {
            outdated = true;
            snapshot();
        }
    }

    @Override
    public void settings() {
        outdated = true;
    }
}
