package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.store.TriggerResult.Outcome;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How runs come into being. */
interface TriggerRules extends StoreRules {

    @Test
    @Proves({"RUN-1", "TRIG-1"})
    default void a_new_run_is_pending_and_due_since_it_was_created() {
        var run = info(create(aRun()));

        assertThat(run.status()).isEqualTo(RunStatus.PENDING);
        assertThat(run.times().due())
                .isEqualTo(run.createdAt())
                .isEqualTo(run.times().updated());
        assertThat(run.createdAt())
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
        assertThat(run.attempt()).isEqualTo(1);
        assertThat(run.lease()).isEqualTo(new RunInfo.Lease(null, 0, 0));
        assertThat(run.retry()).isEqualTo(RetryPolicy.defaults());
        assertThat(run.tags()).isEmpty();
        assertThat(run.times().deadline()).isNull();
        assertThat(run.times().started()).isNull();
    }

    @Test
    @Proves({"RUN-1", "TRIG-8"})
    default void every_option_of_a_trigger_is_kept() {
        var parent = new RunInfo.Parent(create(aRun()), "ship#2");
        var deadline = Instant.parse("2050-01-01T00:00:00.123456Z");
        var retry = new RetryPolicy(7, Duration.ofMillis(1500), 1.5, Duration.ofHours(2), 0.25, Set.of("a.B"));

        var run = info(create(aRun().queue("fast")
                .priority(-3)
                .deadlineAt(deadline)
                .retry(retry)
                .version("v2")
                .externalId("order-1")
                .key("key-1")
                .keyPolicy(KeyPolicy.WHILE_ACTIVE)
                .tag("customer", "42")
                .tag("näme \"quoted\"", "it's {}")
                .parent(parent)));

        assertThat(run.namespace()).isEqualTo(namespace());
        assertThat(run.type()).isEqualTo(TYPE);
        assertThat(run.queue()).isEqualTo("fast");
        assertThat(run.priority()).isEqualTo(-3);
        assertThat(run.times().deadline()).isEqualTo(deadline);
        assertThat(run.retry()).isEqualTo(retry);
        assertThat(run.version()).isEqualTo("v2");
        assertThat(run.externalId()).isEqualTo("order-1");
        assertThat(run.idempotencyKey()).isEqualTo("key-1");
        assertThat(run.keyPolicy()).isEqualTo(KeyPolicy.WHILE_ACTIVE);
        assertThat(run.tags()).isEqualTo(Map.of("customer", "42", "näme \"quoted\"", "it's {}"));
        assertThat(run.parent()).isEqualTo(parent);
    }

    @ParameterizedTest
    @MethodSource("payloads")
    @Proves("DATA-1")
    default void an_input_comes_back_as_it_was_given(Payload input) {
        var run = create(aRun().input(input));

        assertThat(store().input(run)).isEqualTo(input);
        assertThat(claimOnly(run).input()).isEqualTo(input);
    }

    static List<Payload> payloads() {
        var allBytes = new byte[256];
        for (int i = 0; i < allBytes.length; i++) {
            allBytes[i] = (byte) i;
        }
        return List.of(
                Payload.NONE,
                json("{\"a\":1}"),
                json("null"),
                json(""),
                new Payload(new byte[0], Payload.BYTES),
                new Payload(allBytes, Payload.BYTES),
                new Payload(allBytes, "application/x-protobuf"));
    }

    @Test
    @Proves({"TRIG-8", "RUN-2"})
    default void a_run_that_starts_later_sleeps_until_then() {
        var start = Instant.parse("2050-01-01T00:00:00.000001Z");

        var at = info(create(aRun().startAt(start)));
        var after = info(create(aRun().startAfter(Duration.ofHours(1))));

        assertThat(at.status()).isEqualTo(RunStatus.SLEEPING);
        assertThat(at.times().due()).isEqualTo(start);
        assertThat(after.status()).isEqualTo(RunStatus.SLEEPING);
        assertThat(after.times().due()).isEqualTo(after.createdAt().plus(Duration.ofHours(1)));
    }

    @Test
    @Proves("TRIG-8")
    default void a_start_in_the_past_means_now() {
        var run = info(create(aRun().startAt(Instant.parse("2020-01-01T00:00:00Z"))));

        assertThat(run.status()).isEqualTo(RunStatus.PENDING);
        assertThat(run.times().due()).isEqualTo(run.createdAt());
    }

    @Test
    @Proves({"TRIG-5", "TRIG-10"})
    default void what_a_trigger_leaves_open_comes_from_the_definition() {
        register(Workflow.define(TYPE, String.class, String.class)
                .onQueue("shared")
                .retry(RetryPolicy.none())
                .timeout(Duration.ofMinutes(7))
                .keyPolicy(KeyPolicy.WHILE_ACTIVE));

        var run = info(create(aRun().key("a").startAfter(Duration.ofHours(1))));
        var own = info(create(aRun().queue("own").retry(RetryPolicy.defaults()).deadlineAfter(Duration.ofHours(9))));

        assertThat(run.queue()).isEqualTo("shared");
        assertThat(run.retry()).isEqualTo(RetryPolicy.none());
        assertThat(run.keyPolicy()).isEqualTo(KeyPolicy.WHILE_ACTIVE);
        assertThat(run.times().deadline()).isEqualTo(run.times().due().plus(Duration.ofMinutes(7)));
        assertThat(own.queue()).isEqualTo("own");
        assertThat(own.retry()).isEqualTo(RetryPolicy.defaults());
        assertThat(own.times().deadline()).isEqualTo(own.createdAt().plus(Duration.ofHours(9)));
    }

    @Test
    @Proves("TRIG-10")
    default void the_queue_of_an_unknown_type_has_its_name() {
        assertThat(info(create(aRun())).queue()).isEqualTo(TYPE);
    }

    @Test
    @Proves("TRIG-4")
    default void an_unregistered_type_is_refused_unless_accepted() {
        var refused = aRun().check(TriggerCheck.REQUIRE_REGISTERED).build();

        assertThat(trigger(refused).outcome()).isEqualTo(Outcome.UNKNOWN_TYPE);
        assertThat(store().find(refused.id())).isNull();
        assertThat(trigger(aRun().check(TriggerCheck.ACCEPT)).outcome()).isEqualTo(Outcome.CREATED);

        register(Workflow.define(TYPE, String.class, String.class));
        assertThat(trigger(refused).outcome()).isEqualTo(Outcome.CREATED);
    }

    @Test
    @Proves("TRIG-4")
    default void a_definition_counts_in_its_namespace_only() {
        store().register("elsewhere", List.of(Definition.of(Workflow.define(TYPE, String.class, String.class))));

        assertThat(trigger(aRun().check(TriggerCheck.REQUIRE_REGISTERED)).outcome())
                .isEqualTo(Outcome.UNKNOWN_TYPE);
    }

    @Test
    @Proves("TRIG-4")
    default void an_online_worker_is_one_that_serves_the_type() {
        var demanding = aRun().check(TriggerCheck.REQUIRE_ONLINE);

        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);
        registerWorker(List.of("other"), List.of("check_", "billing."));
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);
        registerWorker(List.of(TYPE), List.of());
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.CREATED);
    }

    @Test
    @Proves({"TRIG-4", "CLAIM-4"})
    default void an_online_worker_may_serve_the_type_by_prefix() {
        registerWorker(List.of(), List.of("billing.", "check"));

        assertThat(trigger(aRun().check(TriggerCheck.REQUIRE_ONLINE)).outcome()).isEqualTo(Outcome.CREATED);
    }

    @Test
    @Proves({"TRIG-4", "WORKER-2"})
    default void a_worker_that_left_or_drains_or_is_silent_is_not_online() {
        var demanding = aRun().check(TriggerCheck.REQUIRE_ONLINE);

        registerWorker(List.of(TYPE), List.of());
        store().deregisterWorker(namespace(), WORKER);
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);

        registerWorker(List.of(TYPE), List.of());
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 0, 0, 0, true));
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);

        registerWorker(List.of(TYPE), List.of());
        store().drainWorker(namespace(), WORKER);
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);

        registerWorker(List.of(TYPE), List.of());
        assertThat(trigger(demanding).outcome()).isEqualTo(Outcome.CREATED);
        try (var impatient = openAnother(Duration.ZERO)) {
            var results = impatient.triggerAll(List.of(demanding.build()));
            assertThat(results.get(0).outcome()).isEqualTo(Outcome.NO_WORKER_ONLINE);
        }
    }

    @Test
    @Proves({"TRIG-2", "TRIG-3"})
    default void a_key_that_is_taken_answers_with_the_run_that_has_it() {
        var first = create(aRun().key("order-1"));

        var second = trigger(aRun().key("order-1"));

        assertThat(second).isEqualTo(new TriggerResult(Outcome.EXISTED, first, TYPE));
    }

    @Test
    @Proves("TRIG-3")
    default void a_key_of_another_type_is_a_conflict() {
        var first = create(aRun().key("order-1"));

        var second = trigger(new RunSpec(namespace(), "refund").key("order-1"));

        assertThat(second).isEqualTo(new TriggerResult(Outcome.KEY_OF_OTHER_TYPE, first, TYPE));
    }

    @Test
    @Proves("TRIG-3")
    default void namespaces_have_their_own_keys() {
        create(aRun().key("order-1"));

        create(new RunSpec(namespace() + "-b", TYPE).key("order-1"));
    }

    @Test
    @Proves("TRIG-3")
    default void a_key_forever_stands_for_its_run_after_the_end() {
        var first = ended(aRun().key("order-1"), RunStatus.COMPLETED);

        var second = trigger(aRun().key("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE));

        assertThat(second).isEqualTo(new TriggerResult(Outcome.EXISTED, first, TYPE));
    }

    @Test
    @Proves({"TRIG-3", "DATA-4"})
    default void a_key_is_free_once_its_run_is_deleted() {
        var first = ended(aRun().key("order-1"), RunStatus.COMPLETED);
        store().delete(first, "test");

        create(aRun().key("order-1"));
    }

    @Test
    @Proves("TRIG-3")
    default void a_key_while_active_is_free_once_its_run_has_ended() {
        var spec = aRun().key("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var first = running(spec);
        assertThat(trigger(spec).outcome()).isEqualTo(Outcome.EXISTED);
        finish(first, RunStatus.FAILED);

        create(spec);
    }

    @Test
    @Proves("TRIG-3")
    default void the_same_key_twice_in_one_batch_makes_one_run() {
        var first = aRun().key("order-1").build();
        var second = aRun().key("order-1").build();
        var other = aRun().build();

        var results =
                store().write(List.of(new Write.Trigger(first), new Write.Trigger(other), new Write.Trigger(second)));

        assertThat(results)
                .containsExactly(
                        new TriggerResult(Outcome.CREATED, first.id(), null),
                        new TriggerResult(Outcome.CREATED, other.id(), null),
                        new TriggerResult(Outcome.EXISTED, first.id(), TYPE));
    }

    @Test
    @Proves("TRIG-3")
    default void fifty_threads_with_one_key_make_one_run() throws Exception {
        var answers = atOnce(50, () -> trigger(aRun().key("order-1")));

        assertThat(answers)
                .extracting(TriggerResult::id)
                .hasSize(50)
                .containsOnly(answers.get(0).id());
        assertThat(answers)
                .filteredOn(answer -> answer.outcome() == Outcome.CREATED)
                .hasSize(1);
        assertThat(answers)
                .filteredOn(answer -> answer.outcome() == Outcome.EXISTED)
                .hasSize(49);
    }

    private static <T> List<T> atOnce(int threads, Callable<T> call) throws Exception {
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var start = new CountDownLatch(1);
            var futures = new ArrayList<Future<T>>();
            for (int i = 0; i < threads; i++) {
                futures.add(pool.submit(() -> {
                    start.await();
                    return call.call();
                }));
            }
            start.countDown();
            var results = new ArrayList<T>();
            for (var future : futures) {
                results.add(future.get());
            }
            return results;
        } finally {
            pool.shutdown();
        }
    }

    @Test
    @Proves("STEP-5")
    default void a_trigger_that_is_sent_again_is_the_same_run() {
        var run = aRun().key("order-1").build();
        var plain = aRun().build();

        for (int sent = 0; sent < 2; sent++) {
            assertThat(trigger(run)).isEqualTo(new TriggerResult(Outcome.CREATED, run.id(), null));
            assertThat(trigger(plain)).isEqualTo(new TriggerResult(Outcome.CREATED, plain.id(), null));
        }
    }

    @Test
    @Proves("TRIG-6")
    default void a_batch_creates_all_its_runs_with_their_own_options() {
        var first = aRun().priority(1).build();
        var second = aRun().queue("fast").key("a").build();

        var results = store().triggerAll(List.of(first, second));

        assertThat(results)
                .containsExactly(
                        new TriggerResult(Outcome.CREATED, first.id(), null),
                        new TriggerResult(Outcome.CREATED, second.id(), null));
        assertThat(info(first.id()).priority()).isEqualTo(1);
        assertThat(info(second.id()).queue()).isEqualTo("fast");
    }

    @Test
    @Proves("TRIG-6")
    default void one_refused_run_of_a_batch_creates_nothing() {
        var good = aRun().build();
        var bad = new RunSpec(namespace(), "unknown")
                .check(TriggerCheck.REQUIRE_REGISTERED)
                .build();

        var results = store().triggerAll(List.of(good, bad));

        assertThat(results.get(1).outcome()).isEqualTo(Outcome.UNKNOWN_TYPE);
        assertThat(store().find(good.id())).isNull();
    }

    @Test
    @Proves({"TRIG-6", "TRIG-3"})
    default void a_batch_may_name_runs_that_exist() {
        var existing = create(aRun().key("a"));
        var fresh = aRun().build();

        var results = store().triggerAll(List.of(aRun().key("a").build(), fresh));

        assertThat(results.get(0)).isEqualTo(new TriggerResult(Outcome.EXISTED, existing, TYPE));
        assertThat(status(fresh.id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("TRIG-7")
    default void a_run_in_the_callers_transaction_exists_if_it_commits() throws SQLException {
        var committed = aRun().build();
        var rolledBack = aRun().build();

        try (var connection = connect()) {
            store().triggerIn(connection, List.of(rolledBack));
            connection.rollback();
            var results = store().triggerIn(connection, List.of(committed));
            assertThat(results).containsExactly(new TriggerResult(Outcome.CREATED, committed.id(), null));
            assertThat(store().find(committed.id())).isNull();
            connection.commit();
        }

        assertThat(status(committed.id())).isEqualTo(RunStatus.PENDING);
        assertThat(store().find(rolledBack.id())).isNull();
    }

    @Test
    @Proves("CLAIM-7")
    default void a_new_run_is_told_to_those_who_wait_for_its_queue() {
        var hints = new Hints();
        try (var subscription = store().signals().subscribe(hints)) {
            create(aRun().queue("fast"));

            assertThat(hints.ready).contains(Signals.topic(namespace(), "fast"));
        }
    }
}
