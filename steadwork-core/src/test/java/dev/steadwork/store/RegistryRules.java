package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RetryPolicy;
import dev.steadwork.TriggerCheck;
import dev.steadwork.WorkerInfo;
import dev.steadwork.WorkerStatus;
import dev.steadwork.Workers;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who is there: definitions and workers. */
interface RegistryRules extends StoreRules {
    Workers.Filter ALL = new Workers.Filter(null, null, Map.of());

    @Test
    @Proves("TRIG-5")
    default void a_definition_replaces_the_one_before() {
        var workflow = Workflow.define(TYPE, String.class, String.class);
        register(workflow.onQueue("old").retry(RetryPolicy.none()).timeout(Duration.ofDays(1)));
        register(workflow.onQueue("new"));
        register();

        var run = info(create(aRun().check(TriggerCheck.REQUIRE_REGISTERED)));

        assertThat(run.queue()).isEqualTo("new");
        assertThat(run.retry()).isEqualTo(RetryPolicy.defaults());
        assertThat(run.times().deadline()).isNull();
    }

    @Test
    @Proves("CLAIM-4")
    default void the_queues_of_a_prefix_are_those_of_the_definitions_it_matches() {
        register(
                Workflow.define("billing.invoice", String.class, String.class).onQueue("money"),
                Workflow.define("billing.refund", String.class, String.class).onQueue("money"),
                Workflow.define("billing_other", String.class, String.class),
                Workflow.define("mail", String.class, String.class));

        assertThat(store().queuesOfPrefixes(namespace(), List.of("billing."))).containsExactly("money");
        assertThat(store().queuesOfPrefixes(namespace(), List.of("billing", "ma")))
                .containsExactlyInAnyOrder("money", "billing_other", "mail");
        assertThat(store().queuesOfPrefixes(namespace(), List.of("b%", "_ail"))).isEmpty();
        assertThat(store().queuesOfPrefixes(namespace() + "-b", List.of("billing.")))
                .isEmpty();
    }

    @Test
    @Proves({"WORKER-1", "WORKER-2"})
    default void a_worker_is_registered_once_and_its_totals_are_kept() throws SQLException {
        registerWorker(List.of(TYPE), List.of());
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 3, 10, 1, false));
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 2, 5, 2, true));
        assertThat(worker()).isEqualTo("DRAINING active 2 completed 15 failed 3");

        store().deregisterWorker(namespace(), WORKER);
        assertThat(worker()).isEqualTo("OFFLINE active 0 completed 15 failed 3");

        registerWorker(List.of(TYPE), List.of());
        assertThat(worker()).isEqualTo("ONLINE active 0 completed 15 failed 3");
    }

    @Test
    @Proves({"WORKER-1", "WORKER-4"})
    default void workers_are_listed_by_id_with_all_that_is_known_of_them() {
        store().registerWorker(new WorkerRegistration(
                namespace(),
                "b/7/mail",
                "mail",
                "b",
                7,
                List.of("mail", "post"),
                List.of("mail.send", "mail.bounce"),
                List.of("mail."),
                List.of("v2"),
                20,
                "1.4.2",
                Map.of("zone", "eu", "disk", "fast")));
        store().registerWorker(aWorker("a/1/main", List.of(), List.of()));
        store().heartbeat(new Heartbeat(namespace(), "b/7/mail", List.of(), 3, 10, 1, false));

        var workers = store().workers(namespace(), ALL, null, 10);

        assertThat(workers).extracting(WorkerInfo::id).containsExactly("a/1/main", "b/7/mail");
        var mail = workers.get(1);
        assertThat(mail)
                .usingRecursiveComparison()
                .ignoringFields("registeredAt", "heartbeatAt")
                .isEqualTo(new WorkerInfo(
                        "b/7/mail",
                        "mail",
                        "b",
                        7,
                        "1.4.2",
                        Map.of("zone", "eu", "disk", "fast"),
                        WorkerStatus.ONLINE,
                        List.of("mail", "post"),
                        List.of("mail.bounce", "mail.send"),
                        List.of("mail."),
                        List.of("v2"),
                        20,
                        3,
                        10,
                        1,
                        mail.registeredAt(),
                        mail.heartbeatAt()));
        assertThat(mail.heartbeatAt()).isAfterOrEqualTo(mail.registeredAt());
        assertThat(workers.get(0).labels()).isEmpty();
        assertThat(workers.get(0).version()).isNull();
    }

    @Test
    @Proves("WORKER-4")
    default void workers_are_filtered_counted_and_paged() {
        for (int i = 0; i < 5; i++) {
            var worker = aWorker("worker-" + i, List.of(TYPE), List.of());
            store().registerWorker(new WorkerRegistration(
                    worker.namespace(),
                    worker.id(),
                    worker.name(),
                    worker.host(),
                    worker.pid(),
                    i % 2 == 0 ? List.of("even", "all") : List.of("odd", "all"),
                    worker.types(),
                    List.of(),
                    List.of(),
                    1,
                    null,
                    Map.of("zone", i < 3 ? "eu" : "us", "n", Integer.toString(i))));
        }
        store().deregisterWorker(namespace(), "worker-0");

        assertThat(ids(new Workers.Filter("even", null, Map.of()))).containsExactly("worker-0", "worker-2", "worker-4");
        assertThat(ids(new Workers.Filter("even", WorkerStatus.ONLINE, Map.of())))
                .containsExactly("worker-2", "worker-4");
        assertThat(ids(new Workers.Filter(null, null, Map.of("zone", "us")))).containsExactly("worker-3", "worker-4");
        assertThat(ids(new Workers.Filter("all", WorkerStatus.ONLINE, Map.of("zone", "eu", "n", "1"))))
                .containsExactly("worker-1");
        assertThat(ids(new Workers.Filter("ev", null, Map.of()))).isEmpty();
        assertThat(store().workers(namespace(), ALL, "worker-1", 2))
                .extracting(WorkerInfo::id)
                .containsExactly("worker-2", "worker-3");
        assertThat(store().countWorkers(namespace() + "-b", ALL)).isZero();
    }

    private List<String> ids(Workers.Filter filter) {
        var ids = store().workers(namespace(), filter, null, 100).stream()
                .map(WorkerInfo::id)
                .toList();
        assertThat(store().countWorkers(namespace(), filter)).isEqualTo(ids.size());
        return ids;
    }

    @Test
    @Proves("WORKER-4")
    default void a_heartbeat_tells_of_a_drain_and_does_not_overwrite_it() throws SQLException {
        registerWorker(List.of(TYPE), List.of());
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.KEPT);

        assertThat(store().drainWorker(namespace(), WORKER)).isTrue();
        assertThat(worker()).startsWith("DRAINING");
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.DRAIN);
        assertThat(worker()).startsWith("DRAINING");

        assertThat(store().resumeWorker(namespace(), WORKER)).isTrue();
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.KEPT);
        assertThat(worker()).startsWith("ONLINE");

        store().drainWorker(namespace(), WORKER);
        registerWorker(List.of(TYPE), List.of());
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.KEPT);
        assertThat(worker()).startsWith("ONLINE");
    }

    @Test
    @Proves("WORKER-4")
    default void nothing_can_be_asked_of_a_worker_that_is_not_there() {
        assertThat(store().drainWorker(namespace(), WORKER)).isFalse();
        assertThat(store().resumeWorker(namespace(), WORKER)).isFalse();
        assertThat(store().deregisterWorker(namespace(), WORKER)).isFalse();
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.MISSING);
    }

    @Test
    @Proves("WORKER-2")
    default void a_silent_worker_is_offline_until_it_is_heard_again() throws SQLException {
        registerWorker(List.of(TYPE), List.of());
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 3, 10, 1, false));

        store().expireWorkers(namespace(), Duration.ofDays(1));
        assertThat(worker()).isEqualTo("ONLINE active 3 completed 10 failed 1");

        try (var impatient = openAnother(Duration.ofNanos(1000))) {
            impatient.expireWorkers(namespace(), Duration.ofDays(1));
        }
        assertThat(worker()).isEqualTo("OFFLINE active 0 completed 10 failed 1");

        beat();
        assertThat(worker()).isEqualTo("ONLINE active 0 completed 10 failed 1");
    }

    @Test
    @Proves("WORKER-2")
    default void a_worker_that_is_gone_for_long_is_forgotten_with_its_types() {
        registerWorker(List.of(TYPE), List.of());
        store().registerWorker(aWorker("other", List.of(TYPE), List.of()));
        store().deregisterWorker(namespace(), WORKER);

        store().expireWorkers(namespace(), Duration.ofNanos(1000));

        assertThat(ids(ALL)).containsExactly("other");
        assertThat(trigger(aRun().check(TriggerCheck.REQUIRE_ONLINE)).accepted())
                .isTrue();
        assertThat(beat()).isEqualTo(HeartbeatAnswer.Entry.MISSING);
        store().deregisterWorker(namespace(), "other");
        store().registerWorker(aWorker(WORKER, List.of(), List.of()));
        assertThat(trigger(aRun().check(TriggerCheck.REQUIRE_ONLINE)).accepted())
                .as("types of the worker that was forgotten")
                .isFalse();
    }

    @Test
    @Proves("WORKER-1")
    default void a_worker_may_read_other_queues_than_at_first() {
        registerWorker(List.of(TYPE), List.of());

        store().workerReads(namespace(), WORKER, List.of("new"));

        assertThat(ids(new Workers.Filter("new", null, Map.of()))).containsExactly(WORKER);
        assertThat(ids(new Workers.Filter(TYPE, null, Map.of()))).isEmpty();
    }

    private HeartbeatAnswer.Entry beat() {
        return store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 0, 0, 0, false))
                .entry();
    }

    private String worker() throws SQLException {
        var sql = "SELECT status, active, completed, failed FROM %s WHERE namespace = '%s'"
                .formatted(table("worker"), namespace());
        try (var connection = connect();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            var worker = "%s active %d completed %d failed %d"
                    .formatted(rows.getString(1), rows.getInt(2), rows.getLong(3), rows.getLong(4));
            assertThat(rows.next()).as("a second worker").isFalse();
            return worker;
        }
    }
}
