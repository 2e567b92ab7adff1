package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.Ack;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A database with one promise removed, to see whether the simulation notices. */
enum Mutant {
    /** The database as it is. */
    NONE,

    /** Every write of a worker is taken for one under the current epoch. */
    NO_EPOCH_CHECK {
        @Override
        Object call(Call call) throws Throwable {
            return call.isWrite()
                    ? call.write(write -> Rewritten.under(epoch(call.store(), write.run()), write))
                    : call.make();
        }
    },

    /** The last write of a step counts, not the first. */
    LAST_WRITE_WINS {
        @Override
        Object call(Call call) throws Throwable {
            if (call.isWrite()) {
                for (var write : call.batch()) {
                    if (write instanceof Write.SaveStep save && isCurrent(call.store(), save)) {
                        call.execute(
                                "DELETE FROM steadwork_step WHERE run_id = ? AND name = ? AND occurrence = ?",
                                save.run().toString(),
                                save.step().key().name(),
                                save.step().key().occurrence());
                    }
                }
            }
            return call.make();
        }
    },

    /** A sleep and the run that sleeps are two transactions. */
    SLEEP_IN_TWO_TRANSACTIONS {
        @Override
        Object call(Call call) throws Throwable {
            if (!call.isWrite() || call.batch().stream().noneMatch(Rewritten::isSleep)) {
                return call.make();
            }
            var answers = new ArrayList<>(call.store()
                    .write(call.batch().stream().map(Rewritten::onlySleep).toList()));
            call.between().run();
            for (int i = 0; i < answers.size(); i++) {
                if (Rewritten.isSleep(call.batch().get(i))) {
                    answers.set(
                            i,
                            call.store()
                                    .write(List.of(
                                            Rewritten.withoutSleep(call.batch().get(i))))
                                    .get(0));
                }
            }
            return answers;
        }
    },

    /** A lease that expired is given to the next worker under the same epoch. */
    PROMOTION_KEEPS_EPOCH {
        @Override
        Object call(Call call) throws Throwable {
            if (!call.name().equals("promote")) {
                return call.make();
            }
            call.execute("CREATE TEMP TABLE IF NOT EXISTS held (run_id TEXT)");
            call.execute("DELETE FROM held");
            call.execute("INSERT INTO held SELECT run_id FROM steadwork_run WHERE status = 'RUNNING'");
            var answer = call.make();
            // The claim that follows raises it by one again: the worker that lost the run and the next one share an
            // epoch.
            call.execute("""
                    UPDATE steadwork_run
                       SET lease_epoch = lease_epoch - 2
                     WHERE status = 'PENDING'
                       AND run_id IN (SELECT run_id FROM held)
                    """);
            return answer;
        }
    },

    /** A worker that has lost a run is told that it was stored. */
    LOST_LEASE_IS_NOT_TOLD {
        @Override
        Object call(Call call) throws Throwable {
            if (!call.isWrite()) {
                return call.make();
            }
            var answers = new ArrayList<WriteResult>();
            for (var answer : (List<?>) call.make()) {
                answers.add(
                        answer instanceof Ack ack && ack.outcome() == Ack.Outcome.LEASE_LOST
                                ? Ack.STORED
                                : (WriteResult) answer);
            }
            return answers;
        }
    },

    /** A claim returns the run without its steps. */
    CLAIM_FORGETS_STEPS {
        @Override
        Object call(Call call) throws Throwable {
            var answer = call.make();
            return answer instanceof Claimed claimed
                    ? new Claimed(
                            claimed.now(),
                            claimed.runs().stream().map(Rewritten::withoutSteps).toList())
                    : answer;
        }
    },

    /** A run goes to sleep although a message has come that it has not seen. */
    SLEEPS_OVER_MESSAGES {
        @Override
        Object call(Call call) throws Throwable {
            return call.isWrite() ? call.write(Rewritten::sleepingSoundly) : call.make();
        }
    },

    /** A key does not keep a second run from being created. */
    KEYS_ARE_IGNORED {
        @Override
        Object call(Call call) throws Throwable {
            return call.isWrite() ? call.write(Rewritten::withoutKey) : call.make();
        }
    },

    /** Steps and ends are answered before they are stored, and one in sixteen never is. */
    SOME_WRITES_ARE_LOST {
        private int writes;

        @Override
        Object call(Call call) throws Throwable {
            boolean isStep =
                    call.isWrite() && call.batch().size() == 1 && call.batch().get(0) instanceof Write.SaveStep;
            return isStep && ++writes % 16 == 0 ? List.of(Ack.STORED) : call.make();
        }
    },

    /** A heartbeat prolongs the lease whoever holds the run now. */
    HEARTBEAT_OF_ANYONE {
        @Override
        Object call(Call call) throws Throwable {
            if (call.name().equals("heartbeat")) {
                call.arguments()[0] =
                        Rewritten.underCurrentEpochs((Heartbeat) call.arguments()[0], run -> epoch(call.store(), run));
            }
            return call.make();
        }
    };

    /**
     * One call of the store.
     *
     * @param between what may happen between two transactions
     */
    record Call(Store store, Connection sql, Runnable between, Method method, Object[] arguments) {
        String name() {
            return method.getName();
        }

        boolean isWrite() {
            return name().equals("write");
        }

        @SuppressWarnings("unchecked")
        List<Write> batch() {
            return (List<Write>) arguments[0];
        }

        Object make() throws Throwable {
            try {
                return method.invoke(store, arguments);
            } catch (InvocationTargetException failed) {
                throw failed.getCause();
            }
        }

        Object write(UnaryOperator<Write> change) {
            return store.write(batch().stream().map(change).toList());
        }

        void execute(String text, Object... values) throws SQLException {
            try (var statement = sql.prepareStatement(text)) {
                for (int i = 0; i < values.length; i++) {
                    statement.setObject(i + 1, values[i]);
                }
                statement.executeUpdate();
            }
        }
    }

    Object call(Call call) throws Throwable {
        return call.make();
    }

    Store over(Store store, Connection sql, Runnable between) {
        if (this == NONE) {
            return store;
        }
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, arguments) -> call(new Call(store, sql, between, method, arguments)));
    }

    static long epoch(Store store, RunId run) {
        var info = store.find(run);
        return info == null ? 0 : info.lease().epoch();
    }

    static boolean isCurrent(Store store, Write.Fenced write) {
        var info = store.find(write.run());
        return info != null && info.lease().epoch() == write.epoch() && info.status() == RunStatus.RUNNING;
    }
}
