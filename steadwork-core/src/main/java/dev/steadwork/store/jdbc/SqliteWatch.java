package dev.steadwork.store.jdbc;

import dev.steadwork.store.Signals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
    private Look seen;

    /** @param foreignCommits a number that changes with every commit that is not the store's own */
    SqliteWatch(Path file, IntSupplier foreignCommits) {
        this.files = List.of(file, file.resolveSibling(file.getFileName() + "-wal"));
        this.foreignCommits = foreignCommits;
        this.seen = look();
    }

    /** Times and sizes of the files, which a commit changes. */
    record Look(List<String> files) {}

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

    private synchronized boolean hasChanged() {
        var now = look();
        boolean changed = !now.equals(seen);
        seen = now;
        return changed;
    }

    /**
     * Takes what changed since this look for the store's own commit, unless there was a change before it that the watch
     * has still to notice. A commit of others may be taken for ours if it follows within the grain of file times; the
     * next poll finds what it brought.
     *
     * @param before a look within the transaction that was committed
     */
    synchronized void ignoreChangeSince(Look before) {
        if (before.equals(seen)) {
            seen = look();
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

    Look look() {
        return new Look(files.stream().map(SqliteWatch::timeAndSize).toList());
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
