package dev.steadwork.chaos;

import dev.steadwork.Steadwork;
import dev.steadwork.StoreSeam;
import dev.steadwork.Unavailable;
import dev.steadwork.Worker;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** A worker in a process of its own, which others kill, freeze and cut off. */
public final class WorkerMain {
    /** The worker with a pool of its own, from which all connections can be taken. */
    static final int OWN_POOL_LANE = 3;

    private WorkerMain() {}

    public static void main(String[] arguments) {
        var setup = Setup.of(arguments);
        var history = History.open(setup.folder(), setup.process());
        var builder = settings(setup);
        if (setup.lane() == OWN_POOL_LANE && !setup.isSqlite()) {
            var pool = new OwnPool(setup.url());
            builder.dataSource(pool.dataSource());
            ProcessInput.read(line -> pool.exhaust(Duration.parse(line)));
        } else {
            builder.url(setup.url());
            ProcessInput.read(line -> {});
        }
        if (setup.mutant() != Mutant.NONE) {
            StoreSeam.through(builder, store -> new MutantStore(setup.mutant(), store, setup.directUrl()).store());
        }
        try (var steadwork = open(builder)) {
            var worker = start(steadwork, history);
            history.add(Kind.STARTED, "", "", 0, "");
            worker.join();
        }
    }

    static Steadwork.Builder settings(Setup setup) {
        return Steadwork.builder()
                .lease(setup.lease())
                .heartbeat(setup.lease().dividedBy(4))
                .pollInterval(Duration.ofMillis(500))
                .crashBudget(1_000)
                .poolSize(8);
    }

    static Worker start(Steadwork steadwork, History history) {
        var worker = new Handlers(history)
                .addTo(steadwork.worker())
                .name(history.process())
                .concurrency(100);
        return insist(worker::start);
    }

    static Steadwork open(Steadwork.Builder builder) {
        return insist(builder::open);
    }

    /** A database that is away, or whose disk is full, is waited for. */
    private static <T> T insist(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (Unavailable away) {
                LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
            }
        }
    }
}
