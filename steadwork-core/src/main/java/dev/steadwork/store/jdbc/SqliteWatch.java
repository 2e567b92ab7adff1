package dev.steadwork.store.jdbc;

import dev.steadwork.store.Signals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices what other processes, and other connections of this one, commit to the file. Looks at the times of the files
 * every 50 ms, and asks the database only when they changed by more than the store's own heartbeats: an idle application
 * costs nothing. The first change seen counts as one of others.
 */
final class SqliteWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SqliteWatch.class);
    private static final int INTERVAL_MILLIS = 50;

    private final List<Path> files;
    private final IntSupplier foreignCommits;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final ReentrantLock looking = new ReentrantLock();
    private List<String> seen;

    /** @param foreignCommits a number that changes with every commit that is not the store's own */
    SqliteWatch(Path file, IntSupplier foreignCommits) {
        this.files = List.of(file, file.resolveSibling(file.getFileName() + "-wal"));
        this.foreignCommits = foreignCommits;
        this.seen = look();
    }

    void start(Signals signals) {
        var thread = new Thread(() -> watch(signals), "steadwork-sqlite-watch");
        thread.setDaemon(true);
        thread.start();
    }

    private void watch(Signals signals) {
        int commits = 0;
        boolean changedBefore = false;
        try {
            while (!closed.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
                boolean changed = hasChanged();
                // Once more after a change: file times are too coarse to tell two commits of one moment apart.
                if (changed || changedBefore) {
                    int now = foreignCommits(commits);
                    if (now != commits) {
                        signals.gap();
                    }
                    commits = now;
                }
                changedBefore = changed;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasChanged() {
        looking.lock();
        try {
            var now = look();
            boolean changed = !now.equals(seen);
            seen = now;
            return changed;
        } finally {
            looking.unlock();
        }
    }

    /** For a commit of the store that the watch shall not take for one of others. */
    OwnCommit ownCommit() {
        return new OwnCommit();
    }

    /**
     * Keeps the watch from looking while the store commits. A commit of others that follows before this is closed,
     * or within the grain of file times, is taken for ours; the next poll finds what it brought.
     */
    final class OwnCommit implements AutoCloseable {
        private boolean allSeen;

        /** To be called within the transaction, where others cannot commit: what they did before shall be noticed. */
        void begins() {
            looking.lock();
            allSeen = look().equals(seen);
        }

        @Override
        public void close() {
            if (!looking.isHeldByCurrentThread()) {
                return;
            }
            try {
                if (allSeen) {
                    seen = look();
                }
            } finally {
                looking.unlock();
            }
        }
    }

    private int foreignCommits(int known) {
        try {
            return foreignCommits.getAsInt();
        } catch (RuntimeException e) {
            LOG.debug("Could not ask for commits of other processes; the next look will.", e);
            return known;
        }
    }

    private List<String> look() {
        return files.stream().map(SqliteWatch::timeAndSize).toList();
    }

    private static String timeAndSize(Path file) {
        try {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return attributes.lastModifiedTime() + " " + attributes.size();
        } catch (IOException missing) {
            return "";
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
