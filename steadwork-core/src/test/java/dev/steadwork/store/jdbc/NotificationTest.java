package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.Payload;
import dev.steadwork.RunStatus;
import dev.steadwork.Workflow;
import dev.steadwork.store.Definition;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** What one process hears of what another one did. */
@Proves({"CLAIM-7", "V7"})
class NotificationTest extends PostgresFixture {
    private static final int TOPIC = Signals.topic(NAMESPACE, TYPE);

    private final Heard heard = new Heard();
    private Store other;

    private static final class Heard implements Signals.Listener {
        final Set<Integer> ready = ConcurrentHashMap.newKeySet();
        final Set<Integer> ended = ConcurrentHashMap.newKeySet();
        final Set<Integer> requested = ConcurrentHashMap.newKeySet();
        final AtomicInteger gaps = new AtomicInteger();

        @Override
        public void ready(int topic) {
            ready.add(topic);
        }

        @Override
        public void ended(int runHash) {
            ended.add(runHash);
        }

        @Override
        public void requested(int runHash) {
            requested.add(runHash);
        }

        @Override
        public void gap() {
            gaps.incrementAndGet();
        }
    }

    @BeforeEach
    void listen() {
        other = openStore();
        other.signals().subscribe(heard);
        await().until(() -> selectInt("""
                        SELECT count(*) FROM pg_stat_activity
                         WHERE application_name = 'steadwork-listener' AND datname = current_database() AND query LIKE 'LISTEN%'
                        """) == 2);
    }

    @AfterEach
    void stopListening() {
        other.close();
    }

    @Test
    void a_new_run_is_heard_of() {
        store.write(List.of(new Write.Trigger(newRun())));

        await().until(() -> heard.ready.contains(TOPIC));
    }

    @Test
    void the_end_of_a_run_is_heard_of() {
        trigger(1);
        var run = claim(1, LEASE).get(0);

        store.write(List.of(new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null)));

        await().until(() -> heard.ended.contains(Signals.hash(run.id())));
    }

    @Test
    void the_ends_of_thousands_of_runs_are_heard_of() {
        trigger(3_000);
        var runs = claim(3_000, LEASE);

        store.write(runs.stream()
                .map(run -> new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null))
                .toList());

        var hashes = runs.stream().map(run -> Signals.hash(run.id())).toList();
        await().until(() -> heard.ended.containsAll(hashes));
    }

    @Test
    void a_request_to_cancel_is_heard_of() {
        trigger(1);
        var run = claim(1, LEASE).get(0);

        store.cancel(run.id());

        await().until(() -> heard.requested.contains(Signals.hash(run.id())));
    }

    @Test
    void a_timer_that_is_due_soon_is_heard_of() {
        trigger(1);
        var run = claim(1, LEASE).get(0);
        await().until(() -> heard.ready.contains(TOPIC));
        heard.ready.clear();

        store.write(List.of(
                new Write.Park(run.id(), run.epoch(), Write.Wake.after(Duration.ofSeconds(5)), null, null, 1, null)));

        await().until(() -> heard.ready.contains(TOPIC));
    }

    @Test
    @Proves("TRIG-7")
    void a_run_of_a_callers_transaction_is_heard_of_when_that_commits_also_in_the_same_process() throws SQLException {
        var heardHere = new Heard();
        store.signals().subscribe(heardHere);
        try (var connection = connect()) {
            connection.setAutoCommit(false);
            store.triggerIn(connection, List.of(newRun()));
            connection.rollback();
            store.triggerIn(connection, List.of(newRun("second", null)));
            connection.commit();
        }

        int second = Signals.topic(NAMESPACE, "second");
        await().until(() -> heard.ready.contains(second) && heardHere.ready.contains(second));
        assertThat(heard.ready).doesNotContain(TOPIC);
        assertThat(heardHere.ready).doesNotContain(TOPIC);
    }

    @Test
    void after_its_connection_was_cut_a_process_looks_at_everything_and_hears_again() throws SQLException {
        int gaps = heard.gaps.get();

        selectInt("""
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE application_name = 'steadwork-listener' AND datname = current_database()
                """);

        await().until(() -> heard.gaps.get() > gaps);
        store.write(List.of(new Write.Trigger(newRun())));
        await().until(() -> heard.ready.contains(TOPIC));
    }

    @Test
    void many_changes_are_told_by_few_notifications() throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute("LISTEN steadwork_steadwork");
            long begun = System.nanoTime();
            for (int i = 0; i < 300; i++) {
                store.write(List.of(new Write.Trigger(newRun())));
            }
            long pauses = (System.nanoTime() - begun) / Notifier.PAUSE;
            await().until(() -> heard.ready.contains(TOPIC));

            var notifications = connection.unwrap(PGConnection.class).getNotifications(100);

            assertThat(notifications).isNotEmpty().hasSizeLessThanOrEqualTo((int) pauses + 1 + Notifier.BURST);
        }
    }

    @Test
    void a_run_is_told_of_once() throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute("LISTEN steadwork_steadwork");
            var workflow = Workflow.define(TYPE, Object.class, Object.class);
            store.register(NAMESPACE, List.of(Definition.of(workflow)));
            store.write(List.of(new Write.Trigger(newRun())));
            var told = new ArrayList<String>();
            await().until(() -> told.addAll(ready(connection)));
            await().pollDelay(Duration.ofNanos(2 * Notifier.PAUSE)).until(() -> true);

            store.write(List.of(new Write.Trigger(newRun())));
            await().until(() -> told.addAll(ready(connection)));
            await().pollDelay(Duration.ofMillis(100)).until(() -> true);
            told.addAll(ready(connection));

            assertThat(told).hasSize(2);
        }
    }

    /** What was told of ready runs since the last look. */
    private static List<String> ready(Connection connection) throws SQLException {
        var heard = connection.unwrap(PGConnection.class).getNotifications(1);
        return Stream.ofNullable(heard)
                .flatMap(Stream::of)
                .map(PGNotification::getParameter)
                .filter(payload -> payload.matches(".{8}r.*"))
                .toList();
    }

    @Test
    void a_process_does_not_listen_to_itself() {
        var heardHere = new Heard();
        store.write(List.of(new Write.Trigger(newRun())));
        await().until(() -> heard.ready.contains(TOPIC));
        store.signals().subscribe(heardHere);
        heard.ready.clear();

        other.write(List.of(new Write.Trigger(newRun("of-other", null))));

        await().until(() -> heardHere.ready.contains(Signals.topic(NAMESPACE, "of-other")));
        assertThat(heardHere.ready).doesNotContain(TOPIC);
    }

    @Test
    void too_many_hashes_to_tell_are_told_as_a_gap() {
        var database = new Notifications("steadwork");
        var hashes = IntStream.range(0, 10_000).boxed().toList();
        int gaps = heard.gaps.get();

        var payloads = database.payloads(Notifications.Kind.ENDED, hashes);
        payloads.forEach(payload -> new Notifications("steadwork").receive(payload, other.signals()));

        assertThat(payloads).hasSize(1);
        assertThat(heard.gaps.get()).isEqualTo(gaps + 1);
    }
}
