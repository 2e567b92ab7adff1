package dev.steadwork.chaos;

import dev.steadwork.RunId;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The store without one of its rules. */
final class MutantStore {
    /** One of so many sleeps that outlast a lease ends the process between its two transactions. */
    private static final int DEADLY = 8;

    private static final Duration LONG = Duration.ofSeconds(4);

    private final Mutant mutant;
    private final Store real;
    private final String url;
    private @Nullable Connection connection;

    MutantStore(Mutant mutant, Store real, String url) {
        this.mutant = mutant;
        this.real = real;
        this.url = url;
    }

    Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, given) -> {
                    var arguments = given == null ? new Object[0] : given;
                    if (method.getName().equals("write")) {
                        return write((List<?>) arguments[0]);
                    }
                    if (method.getName().equals("transact")) {
                        beforeTransaction(arguments);
                    }
                    return call(method, arguments);
                });
    }

    private @Nullable Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException failed) {
            var cause = failed.getCause();
            throw cause == null ? failed : cause;
        }
    }

    private List<WriteResult> write(List<?> batch) throws SQLException {
        var writes = new ArrayList<Write>();
        for (var element : batch) {
            writes.add(changed((Write) element));
        }
        return real.write(writes);
    }

    private Write changed(Write write) throws SQLException {
        if (mutant == Mutant.EPOCH && write instanceof Write.Fenced fenced) {
            return under(fenced, currentEpoch(fenced.run(), fenced.epoch()));
        }
        if (mutant == Mutant.FIRST_WRITE && write instanceof Write.SaveStep save) {
            forget(save.run(), save.step().key().name(), save.epoch());
        }
        if (mutant == Mutant.SLEEP && write instanceof Write.Park park && park.sleep() != null) {
            return split(park);
        }
        return write;
    }

    private void beforeTransaction(Object[] arguments) throws SQLException {
        var run = (RunId) arguments[0];
        if (mutant == Mutant.EPOCH) {
            arguments[1] = currentEpoch(run, (long) arguments[1]);
        }
        if (mutant == Mutant.FIRST_WRITE) {
            forget(run, "debit", (long) arguments[1]);
        }
    }

    private long currentEpoch(RunId run, long otherwise) {
        var info = real.find(run);
        return info == null ? otherwise : info.lease().epoch();
    }

    private static Write under(Write.Fenced write, long epoch) {
        if (write instanceof Write.SaveStep w) {
            return new Write.SaveStep(w.run(), epoch, w.step(), w.child(), w.signal());
        } else if (write instanceof Write.SaveAttempt w) {
            return new Write.SaveAttempt(w.run(), epoch, w.attempt());
        } else if (write instanceof Write.Finish w) {
            return new Write.Finish(
                    w.run(), epoch, w.status(), w.output(), w.error(), w.deadLetter(), w.parent(), w.endsChildren());
        } else if (write instanceof Write.Park w) {
            return new Write.Park(
                    w.run(), epoch, w.wake(), w.sleep(), w.failedAttempt(), w.attempt(), w.error(), w.awaits());
        } else if (write instanceof Write.Pause w) {
            return new Write.Pause(w.run(), epoch);
        }
        return new Write.Release(write.run(), epoch);
    }

    private synchronized void forget(RunId run, String step, long epoch) throws SQLException {
        var sql = """
                DELETE FROM steadwork.step
                 USING steadwork.run
                 WHERE step.run_id = ?::uuid
                   AND step.name = ?
                   AND step.status = 'COMPLETED'
                   AND run.run_id = step.run_id
                   AND run.lease_epoch = ?
                """;
        try (var delete = connection().prepareStatement(sql)) {
            delete.setString(1, run.toString());
            delete.setString(2, step);
            delete.setLong(3, epoch);
            delete.executeUpdate();
        }
    }

    private Connection connection() throws SQLException {
        var present = connection;
        if (present == null || present.isClosed()) {
            present = DriverManager.getConnection(url);
            connection = present;
        }
        return present;
    }

    private Write split(Write.Park park) {
        var sleep = park.sleep();
        if (sleep != null) {
            real.write(List.of(new Write.SaveStep(park.run(), park.epoch(), sleep)));
        }
        var length = park.wake().after();
        boolean isLong = length != null && length.compareTo(LONG) > 0;
        if (isLong && ThreadLocalRandom.current().nextInt(DEADLY) == 0) {
            Runtime.getRuntime().halt(137);
        }
        return new Write.Park(
                park.run(),
                park.epoch(),
                park.wake(),
                null,
                park.failedAttempt(),
                park.attempt(),
                park.error(),
                park.awaits());
    }
}
