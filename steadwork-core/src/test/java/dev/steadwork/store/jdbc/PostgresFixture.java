package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.Ack;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.Store;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import dev.steadwork.testing.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A store on a fresh database, and short words for common calls. */
abstract class PostgresFixture {
    static final String NAMESPACE = "default";
    static final String TYPE = "checkout";
    static final Duration LEASE = Duration.ofMinutes(5);

    /** A lease that has expired by the next statement. */
    static final Duration NO_LEASE = Duration.ofMillis(0);

    String url;
    Store store;

    @BeforeEach
    void open() {
        url = PostgresServer.newDatabase();
        store = openStore();
        store.migrate();
    }

    @AfterEach
    void close() {
        store.close();
        PostgresServer.dropDatabase(url);
    }

    /** A store as another process would open it. */
    Store openStore() {
        return JdbcStores.open(new StoreConfig(url, null, null, null, "steadwork", 10, true, Duration.ofSeconds(60)));
    }

    /** A store on an application's data source. */
    Store openStore(DataSource dataSource) {
        return JdbcStores.open(
                new StoreConfig(null, dataSource, null, null, "steadwork", 10, false, Duration.ofSeconds(60)));
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    /** A data source that gives this thread always the same connection, and others new ones. */
    DataSource keeping(Connection connection) {
        var owner = Thread.currentThread();
        var kept = proxy(Connection.class, (method, arguments) -> {
            try {
                return method.getName().equals("close") ? null : method.invoke(connection, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return proxy(DataSource.class, (method, arguments) -> Thread.currentThread() == owner ? kept : connect());
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call.answer(method, arguments)));
    }

    @FunctionalInterface
    private interface Call {
        Object answer(Method method, Object[] arguments) throws Throwable;
    }

    static NewRun newRun() {
        return newRun(TYPE, null);
    }

    static NewRun newRun(String queue, String key) {
        return newRun(queue, key, Payload.NONE);
    }

    static NewRun newRun(String queue, String key, Payload input) {
        return newRun(TYPE, queue, key, input);
    }

    static NewRun newRun(String type, String queue, String key, Payload input) {
        return new NewRun(
                RunIds.next(NAMESPACE, key),
                NAMESPACE,
                type,
                queue,
                null,
                input,
                0,
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                null,
                null,
                key,
                null,
                TriggerCheck.ACCEPT,
                Map.of(),
                null);
    }

    List<RunId> trigger(int runs) {
        var newRuns = IntStream.range(0, runs).mapToObj(i -> newRun()).toList();
        assertThat(store.triggerAll(newRuns)).allMatch(TriggerResult::accepted);
        return newRuns.stream().map(NewRun::id).toList();
    }

    List<ClaimedRun> claim(int limit, Duration lease) {
        return claim(List.of(TYPE), limit, lease);
    }

    List<ClaimedRun> claim(List<String> queues, int limit, Duration lease) {
        var worker = Thread.currentThread().getName();
        return store.claim(
                        new ClaimRequest(NAMESPACE, worker, queues, List.of(TYPE), List.of(), List.of(), limit, lease))
                .runs();
    }

    static Write.SaveStep step(ClaimedRun run, String name, int position) {
        return step(run, name, position, Payload.NONE);
    }

    static Write.SaveStep step(ClaimedRun run, String name, int position, Payload output) {
        var key = new StepRecord.Key(name, 1, position);
        var step = new StepRecord(
                key, StepKind.FUNCTION, StepStatus.COMPLETED, 1, Payload.NONE, output, null, null, null, null);
        return new Write.SaveStep(run.id(), run.epoch(), step);
    }

    boolean isStored(Write.Fenced write) {
        return ((Ack) store.write(List.of(write)).get(0)).outcome() == Ack.Outcome.STORED;
    }

    String selectText(String sql) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    int selectInt(String sql) throws SQLException {
        return Integer.parseInt(selectText(sql));
    }

    /** Does it in so many threads at once, and throws what one of them threw. */
    static void inThreads(int threads, Callable<?> work) throws Exception {
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var calls = new ArrayList<Callable<Object>>();
            for (int i = 0; i < threads; i++) {
                calls.add(work::call);
            }
            for (var done : pool.invokeAll(calls)) {
                done.get();
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
