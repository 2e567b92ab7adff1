package dev.steadwork.chaos;

import dev.steadwork.testing.TestDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** A database file that several processes write, on a small disk of its own where one can be had. */
final class SqliteTarget implements Target {
    private final String url;
    private final Optional<SmallDisk> disk;

    private SqliteTarget(String url, Optional<SmallDisk> disk) {
        this.url = url;
        this.disk = disk;
    }

    static SqliteTarget create(Path directory, int megabytes) throws SQLException {
        var disk = SmallDisk.mount(directory.resolve("disk"), megabytes);
        var folder = disk.map(SmallDisk::folder).orElse(directory);
        var target = new SqliteTarget("jdbc:sqlite:" + folder.resolve("chaos.db"), disk);
        try (var connection = target.connect();
                var statement = connection.createStatement()) {
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("CREATE TABLE chaos_effect (run_id TEXT NOT NULL, value TEXT NOT NULL)");
        }
        return target;
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public String workerUrl(int lane) {
        return url;
    }

    @Override
    public String clientUrl(int lane) {
        return url;
    }

    @Override
    public Set<FaultKind> faults() {
        var faults = EnumSet.copyOf(FaultKind.OF_PROCESSES);
        if (disk.isPresent()) {
            faults.add(FaultKind.DISK_FULL);
        }
        return faults;
    }

    @Override
    public void inflict(Fault fault, History history) {
        if (fault.kind() != FaultKind.DISK_FULL) {
            throw new IllegalArgumentException(fault.kind().toString());
        }
        var full = disk.orElseThrow();
        emptyLog();
        full.fill();
        Pauses.pause(fault.lasts());
        full.free();
    }

    /** What the log has room for could still be written to a full disk. */
    private void emptyLog() {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        } catch (SQLException e) {
            throw new IllegalStateException("The log could not be emptied.", e);
        }
    }

    @Override
    public Duration ahead() {
        return Duration.ZERO;
    }

    @Override
    public boolean isBeingWritten() {
        return TestDatabase.SQLITE.isBeingWritten(url);
    }

    @Override
    public String sql(String statement) {
        return statement.replace("steadwork.", "steadwork_");
    }

    @Override
    public void close() {
        disk.ifPresent(SmallDisk::close);
    }
}
