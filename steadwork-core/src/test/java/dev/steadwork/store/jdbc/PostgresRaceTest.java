package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunId;
import dev.steadwork.store.Ack;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What may not happen however the statements of several workers meet. */
class PostgresRaceTest extends PostgresFixture {

    /** Fails if the run is not locked while its epoch is checked: a step is acknowledged that the next worker never sees. */
    @RepeatedTest(3)
    @Proves({"LEASE-3", "STEP-1"})
    void an_acknowledged_step_is_seen_by_whoever_takes_the_run_over() throws Exception {
        trigger(1_000);
        var held = claim(1_000, NO_LEASE);
        var takenOver = new ConcurrentHashMap<RunId, Set<String>>();
        var others = Executors.newSingleThreadExecutor();
        var takingOver = others.submit(() -> takeOver(held.size(), takenOver));

        var acknowledged = new HashMap<RunId, Set<String>>();
        for (int position = 1; !takingOver.isDone(); position++) {
            for (var run : saved(held, "step-" + position, position)) {
                acknowledged.computeIfAbsent(run.id(), first -> new HashSet<>()).add("step-" + position);
            }
        }
        takingOver.get();
        others.shutdown();

        for (var run : held) {
            assertThat(takenOver.get(run.id()))
                    .as("steps of %s that its second worker knows", run.id())
                    .isEqualTo(acknowledged.getOrDefault(run.id(), Set.of()));
        }
    }

    private List<ClaimedRun> saved(List<ClaimedRun> runs, String name, int position) {
        var answers =
                store.write(runs.stream().map(run -> step(run, name, position)).toList());
        return IntStream.range(0, runs.size())
                .filter(i -> answers.get(i).equals(Ack.STORED))
                .mapToObj(runs::get)
                .toList();
    }

    /** Takes expired leases over, a few at a time, as a second worker would. */
    private Object takeOver(int runs, Map<RunId, Set<String>> takenOver) {
        while (takenOver.size() < runs) {
            store.promote(new PromoteRequest(NAMESPACE, List.of(TYPE), List.of(), 40));
            for (var run : claim(40, LEASE)) {
                takenOver.put(
                        run.id(),
                        run.steps().stream().map(step -> step.key().name()).collect(Collectors.toSet()));
            }
        }
        return takenOver;
    }

    /** Fails if a claim takes a run that changed hands after the claim's snapshot. Much to look at makes claims slow. */
    @Test
    @Proves({"CLAIM-1", "STEP-1"})
    void a_claim_brings_all_steps_of_a_run_that_was_just_handed_back() throws Exception {
        var hot = urgent("hot");
        var queues = new ArrayList<>(List.of("hot"));
        var runs = new ArrayList<>(List.of(hot));
        for (int queue = 0; queue < 20; queue++) {
            var name = "queue-" + queue;
            queues.add(name);
            Stream.generate(() -> newRun(name, null)).limit(500).forEach(runs::add);
        }
        store.triggerAll(runs);
        var saved = new AtomicInteger();
        var slow = new AtomicBoolean(true);
        long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();

        inThreads(3, () -> {
            var wanted = slow.getAndSet(false) ? queues : List.of("hot");
            while (System.nanoTime() < end) {
                var claimed = claim(wanted, 500, LEASE);
                for (var run : claimed) {
                    if (run.id().equals(hot.id())) {
                        assertThat(run.steps()).hasSize(saved.get());
                        int position = saved.get() + 1;
                        assertThat(isStored(step(run, "step-" + position, position)))
                                .isTrue();
                        saved.set(position);
                    }
                }
                store.write(claimed.stream()
                        .map(run -> new Write.Release(run.id(), run.epoch()))
                        .toList());
            }
            return saved;
        });

        assertThat(saved.get()).isPositive();
    }

    private static NewRun urgent(String queue) {
        var run = newRun(queue, null);
        return new NewRun(
                run.id(),
                NAMESPACE,
                TYPE,
                queue,
                null,
                run.input(),
                10,
                run.start(),
                run.deadline(),
                null,
                null,
                null,
                null,
                null,
                run.check(),
                Map.of(),
                null);
    }

    @Test
    @Proves("CLAIM-5")
    void writes_heartbeats_and_timers_that_meet_on_the_same_runs_all_succeed() throws Exception {
        trigger(200);
        var held = claim(200, LEASE);
        var round = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();

        inThreads(4, () -> {
            while (System.nanoTime() < end) {
                int position = round.incrementAndGet();
                var shuffled = new ArrayList<>(held);
                Collections.shuffle(shuffled);
                assertThat(store.write(shuffled.stream()
                                .map(run -> step(run, "step-" + position, position))
                                .toList()))
                        .containsOnly(Ack.STORED);
                assertThat(store.heartbeat(heartbeat(shuffled)).held()).hasSize(held.size());
                store.promote(new PromoteRequest(NAMESPACE, List.of(TYPE), List.of(), 100));
            }
            return held;
        });
    }

    private static Heartbeat heartbeat(List<ClaimedRun> runs) {
        var held = runs.stream()
                .map(run -> new Heartbeat.Held(run.id(), run.epoch(), LEASE, null, null))
                .toList();
        return new Heartbeat(NAMESPACE, "worker", held, held.size(), 0, 0, false);
    }

    @Test
    @Proves("TRIG-3")
    void batches_that_want_the_same_keys_in_any_order_make_each_run_once() throws Exception {
        var keys = IntStream.range(0, 100).mapToObj(i -> "order-" + i).toList();

        inThreads(8, () -> {
            var shuffled = new ArrayList<>(keys);
            Collections.shuffle(shuffled);
            return store.triggerAll(
                    shuffled.stream().map(key -> newRun(TYPE, key)).toList());
        });

        assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(keys.size());
    }

    @Test
    @Proves("TRIG-2")
    void a_key_that_becomes_free_meanwhile_is_taken_by_one() throws Exception {
        ExecutorService operator = Executors.newSingleThreadExecutor();
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        var deleting = operator.submit(() -> {
            while (System.nanoTime() < end) {
                for (var run : claim(10, LEASE)) {
                    store.delete(run.id(), "key is free again");
                }
            }
            return true;
        });

        inThreads(4, () -> {
            while (System.nanoTime() < end) {
                NewRun asked = newRun(TYPE, "the-key");
                assertThat(store.write(List.of(new Write.Trigger(asked)))).hasSize(1);
            }
            return true;
        });
        deleting.get();
        operator.shutdown();

        assertThat(selectInt("SELECT count(*) FROM steadwork.run WHERE deleted_at IS NULL"))
                .isLessThanOrEqualTo(1);
    }
}
