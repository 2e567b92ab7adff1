package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.QueueLimit;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What all workers together may take from a queue. */
@Proves("WORKER-3")
interface LimitRules extends StoreRules {
    Duration HOUR = Duration.ofHours(1);

    @Test
    default void limits_are_kept_replaced_and_taken_away() {
        var first = QueueLimit.concurrency(10);
        var second = QueueLimit.none().perKey(2).rate(100, Duration.ofMinutes(1));
        store().limit(namespace(), "a", first);
        store().limit(namespace(), "b", first);
        store().limit(namespace() + "-other", "c", first);

        store().limit(namespace(), "b", second);
        assertThat(store().limits(namespace()))
                .containsOnlyKeys("a", "b")
                .containsEntry("a", first)
                .containsEntry("b", second);

        store().unlimit(namespace(), "b");
        store().unlimit(namespace(), "unknown");
        assertThat(store().limits(namespace())).containsOnlyKeys("a");
    }

    @Test
    default void a_queue_without_a_limit_is_not_claimed_from_under_one() {
        var run = create(aRun());

        assertThat(store().claimLimited(claimOf(TYPE, 10))).isEmpty();
        assertThat(status(run)).isEqualTo(RunStatus.PENDING);
    }

    @Test
    default void a_claim_under_a_limit_brings_all_that_others_bring() {
        var first = running();
        write(new Write.SaveStep(first.id(), first.epoch(), StoreRules.step("charge", 1, "{\"id\":1}")));
        write(new Write.SaveAttempt(first.id(), first.epoch(), StoreRules.attempt("ship", 2, 1)));
        write(new Write.Release(first.id(), first.epoch()));
        limit(QueueLimit.concurrency(5));

        var claimed = claimed(10);

        var run = claimed.runs().get(0);
        var info = info(first.id());
        assertThat(info.status()).isEqualTo(RunStatus.RUNNING);
        assertThat(info.lease().worker()).isEqualTo(WORKER);
        assertThat(info.times().due()).isEqualTo(claimed.now().plus(LEASE));
        assertThat(run.id()).isEqualTo(first.id());
        assertThat(run.epoch()).isEqualTo(info.lease().epoch()).isEqualTo(3);
        assertThat(run.startedAt()).isEqualTo(first.startedAt());
        assertThat(run.steps()).extracting(step -> step.key().name()).containsExactly("charge", "ship");
        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
    }

    @Test
    default void a_limit_is_filled_in_claim_order_and_no_further() {
        limit(QueueLimit.concurrency(3));
        var plain = create(aRun());
        var later = create(aRun());
        var urgent = create(aRun().priority(10));
        create(aRun().priority(-1));

        assertThat(take(2)).containsExactly(urgent, plain);
        assertThat(take(10)).containsExactly(later);
        assertThat(take(10)).isEmpty();
    }

    @Test
    default void whatever_leaves_running_makes_room() {
        limit(QueueLimit.concurrency(5));
        IntStream.range(0, 20).forEach(i -> create(aRun()));
        var held = claimed(10).runs();
        assertThat(held).hasSize(5);

        finish(held.get(0), RunStatus.FAILED);
        assertThat(take(10)).hasSize(1);
        park(held.get(1), Write.Wake.after(HOUR));
        assertThat(take(10)).hasSize(1);
        store().terminate(held.get(2).id(), "test");
        assertThat(take(10)).hasSize(1);
        store().pause(held.get(3).id());
        write(new Write.Pause(held.get(3).id(), held.get(3).epoch()));
        assertThat(take(10)).hasSize(1);
        write(new Write.Release(held.get(4).id(), held.get(4).epoch()));
        assertThat(take(10)).hasSize(1);
        assertThat(take(10)).isEmpty();
    }

    @Test
    default void a_lease_that_ran_out_makes_room_when_it_is_promoted() {
        limit(QueueLimit.concurrency(1));
        var run = create(aRun());
        store().claimLimited(new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of(), 1, Duration.ZERO));
        assertThat(take(1)).isEmpty();

        promote();

        assertThat(take(1)).containsExactly(run);
    }

    @Test
    default void a_deleted_run_counts_until_its_lease_ends() {
        limit(QueueLimit.concurrency(1));
        create(aRun());
        var held = claimed(1).runs().get(0);
        create(aRun());
        store().delete(held.id(), "test");
        assertThat(take(1)).isEmpty();

        var lost = new Heartbeat.Held(held.id(), held.epoch(), Duration.ZERO, null, null);
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(lost), 1, 0, 0, false));

        assertThat(take(1)).hasSize(1);
    }

    @Test
    default void runs_that_executed_before_the_limit_was_set_count() {
        running();
        running();
        create(aRun());
        create(aRun());

        limit(QueueLimit.concurrency(3));

        assertThat(take(10)).hasSize(1);
    }

    @Test
    default void runs_that_a_worker_claimed_before_it_knew_of_the_limit_count_when_it_says_so() {
        limit(QueueLimit.concurrency(2));
        var ignorant = List.of(running().id(), running().id());
        var otherQueue = running(aRun().queue("other")).id();
        create(aRun());

        store().countRunning(namespace(), TYPE, List.of(ignorant.get(0), ignorant.get(1), otherQueue));

        assertThat(take(10)).isEmpty();
        limit("other", QueueLimit.concurrency(2));
        create(aRun().queue("other"));
        assertThat(store().claimLimited(claimOf("other", 10)).orElseThrow().runs())
                .as("the other queue counted its own")
                .hasSize(1);
    }

    @Test
    default void a_key_has_its_own_limit() {
        limit(QueueLimit.none().perKey(2));
        var a = createKeyed("a", 5);
        var b = createKeyed("b", 1);

        assertThat(take(10)).containsExactlyInAnyOrder(a.get(0), a.get(1), b.get(0));
        assertThat(take(10)).isEmpty();

        store().terminate(a.get(0), "test");
        assertThat(take(10)).containsExactly(a.get(2));
    }

    @Test
    default void a_key_hands_out_its_best_run_first() {
        limit(QueueLimit.none().perKey(1));
        createKeyed("a", 3);
        var urgent = create(aRun().concurrencyKey("a").priority(1));

        assertThat(take(10)).containsExactly(urgent);
    }

    @Test
    default void keys_take_turns() {
        limit(QueueLimit.concurrency(1).perKey(1));
        var a = createKeyed("a", 3);
        var b = createKeyed("b", 2);
        var c = createKeyed("c", 1);

        assertThat(oneAfterTheOther(6)).containsExactly(a.get(0), b.get(0), c.get(0), a.get(1), b.get(1), a.get(2));
    }

    @Test
    default void runs_without_a_key_have_a_turn_and_no_limit_per_key() {
        limit(QueueLimit.none().perKey(1));
        var keyed = createKeyed("a", 2);
        var unkeyed = IntStream.range(0, 3).mapToObj(i -> create(aRun())).toList();

        var expected = new ArrayList<>(unkeyed);
        expected.add(keyed.get(0));
        assertThat(take(10)).containsExactlyInAnyOrderElementsOf(expected);

        limit(QueueLimit.concurrency(5).perKey(1));
        create(aRun());
        create(aRun());
        assertThat(take(10)).as("but they count").hasSize(1);
    }

    @Test
    default void a_key_that_is_full_does_not_keep_others_from_their_turn() {
        limit(QueueLimit.concurrency(10).perKey(1));
        createKeyed("a", 200);
        take(1);

        var others = List.of(createKeyed("b", 1).get(0), createKeyed("0", 1).get(0));

        assertThat(take(10)).containsExactlyInAnyOrderElementsOf(others);
    }

    @Test
    default void a_claim_under_a_limit_takes_only_the_types_it_asks_for() {
        limit(QueueLimit.concurrency(10).perKey(5));
        create(new RunSpec(namespace(), "checkout.v2").queue(TYPE).concurrencyKey("a"));
        create(new RunSpec(namespace(), "checkout.v2").queue(TYPE));
        var mine = List.of(create(aRun().concurrencyKey("a")), create(aRun()));

        assertThat(take(10)).containsExactlyInAnyOrderElementsOf(mine);
        var byPrefix = new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(), List.of("checkout."), List.of(), 10, LEASE);
        assertThat(store().claimLimited(byPrefix).orElseThrow().runs()).hasSize(2);
    }

    @Test
    default void a_rate_allows_so_many_starts_and_tells_when_the_next_is_possible() {
        limit(QueueLimit.none().rate(3, HOUR));
        IntStream.range(0, 5).forEach(i -> create(aRun()));

        var first = claimed(2);
        var second = claimed(2);
        var third = claimed(2);

        assertThat(first.runs()).hasSize(2);
        assertThat(first.heldBack()).as("got all it asked for").isNull();
        assertThat(second.runs()).hasSize(1);
        assertThat(third.runs()).isEmpty();
        for (var claimed : List.of(second, third)) {
            assertThat(claimed.heldBack())
                    .isEqualTo(new Claimed.HeldBack(
                            Duration.between(claimed.now(), first.now().plus(HOUR))));
        }
    }

    @Test
    default void the_starts_of_every_span_stay_within_the_rate() {
        var period = Duration.ofMillis(100);
        limit(QueueLimit.none().rate(5, period));
        IntStream.range(0, 40).forEach(i -> create(aRun()));

        var starts = new ArrayList<Instant>();
        while (starts.size() < 40) {
            var claimed = claimed(1 + starts.size() % 3);
            claimed.runs().forEach(run -> starts.add(info(run.id()).startedAt()));
        }

        for (int i = 0; i + 5 < starts.size(); i++) {
            assertThat(Duration.between(starts.get(i), starts.get(i + 5))).isGreaterThanOrEqualTo(period);
        }
    }

    @Test
    default void a_claim_tells_whether_a_limit_holds_runs_back() {
        limit(QueueLimit.concurrency(2));
        create(aRun());
        create(aRun());
        assertThat(claimed(10).heldBack()).as("nothing else waits").isNull();

        create(aRun());
        assertThat(claimed(10).heldBack()).isEqualTo(new Claimed.HeldBack(null));
    }

    @RepeatedTest(3)
    default void claimers_that_meet_never_take_more_than_the_limit_together() throws Exception {
        limit(QueueLimit.concurrency(10).perKey(3).rate(15, HOUR));
        for (var key : List.of("a", "b", "c", "d", "e", "f", "g")) {
            createKeyed(key, 20);
        }

        var taken = inThreads(8, () -> {
            var mine = new ArrayList<ClaimedRun>();
            for (int i = 0; i < 5; i++) {
                mine.addAll(claimed(2).runs());
            }
            return mine;
        });

        assertThat(taken).hasSize(10);
        assertThat(taken).extracting(ClaimedRun::id).doesNotHaveDuplicates();
        assertThat(List.of("a", "b", "c", "d", "e", "f", "g"))
                .allSatisfy(key -> assertThat(taken)
                        .filteredOn(run -> key.equals(info(run.id()).concurrencyKey()))
                        .hasSizeLessThanOrEqualTo(3));

        taken.forEach(run -> finish(run, RunStatus.COMPLETED));
        assertThat(inThreads(8, () -> claimed(10).runs()))
                .as("what the rate leaves")
                .hasSize(5);
    }

    private static <T> List<T> inThreads(int threads, Callable<List<T>> work) throws Exception {
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var calls = IntStream.range(0, threads).mapToObj(i -> work).toList();
            var all = new ArrayList<T>();
            for (var call : pool.invokeAll(calls)) {
                all.addAll(call.get());
            }
            return all;
        } finally {
            pool.shutdownNow();
        }
    }

    private void limit(QueueLimit limit) {
        limit(TYPE, limit);
    }

    private void limit(String queue, QueueLimit limit) {
        store().limit(namespace(), queue, limit);
    }

    private Claimed claimed(int limit) {
        return store().claimLimited(claimOf(TYPE, limit)).orElseThrow();
    }

    private List<RunId> take(int limit) {
        return claimed(limit).runs().stream().map(ClaimedRun::id).toList();
    }

    private List<RunId> oneAfterTheOther(int runs) {
        var order = new ArrayList<RunId>();
        for (int i = 0; i < runs; i++) {
            var run = claimed(10).runs().get(0);
            order.add(run.id());
            finish(run, RunStatus.COMPLETED);
        }
        return order;
    }

    private List<RunId> createKeyed(String key, int runs) {
        return IntStream.range(0, runs)
                .mapToObj(i -> create(aRun().concurrencyKey(key)))
                .toList();
    }
}
