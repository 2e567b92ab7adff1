package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.failedStep;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.KeyPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.testing.Proves;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The same asked of many runs at once. */
interface BulkRules extends StoreRules {

    @Test
    @Proves({"RETRY-1", "CANCEL-1", "CANCEL-2"})
    default void of_many_runs_those_that_have_not_ended_are_cancelled() {
        var hints = new Hints();
        var runs = oneInEachStatus();
        var before = info(runs.get(RunStatus.CANCELLED));

        try (var subscription = store().signals().subscribe(hints)) {
            assertThat(store().cancelAll(withUnknown(runs))).isEqualTo(4);
        }

        for (var status : List.of(RunStatus.PENDING, RunStatus.SLEEPING, RunStatus.PAUSED)) {
            assertThat(status(runs.get(status))).as(status.name()).isEqualTo(RunStatus.CANCELLED);
            assertThat(hints.ended).contains(Signals.hash(runs.get(status)));
        }
        assertThat(info(runs.get(RunStatus.RUNNING)).times().cancelRequested()).isNotNull();
        assertThat(hints.requested).containsExactly(Signals.hash(runs.get(RunStatus.RUNNING)));
        assertThat(status(runs.get(RunStatus.COMPLETED))).isEqualTo(RunStatus.COMPLETED);
        assertThat(status(runs.get(RunStatus.FAILED))).isEqualTo(RunStatus.FAILED);
        assertThat(info(runs.get(RunStatus.CANCELLED))).isEqualTo(before);
    }

    @Test
    @Proves("RETRY-1")
    default void of_many_runs_the_failed_and_cancelled_ones_are_retried() {
        var hints = new Hints();
        var deleted = in(RunStatus.FAILED);
        store().delete(deleted, "test");
        var runs = oneInEachStatus();
        var all = withUnknown(runs);
        all.add(deleted);

        try (var subscription = store().signals().subscribe(hints)) {
            assertThat(store().retryAll(all)).isEqualTo(2);
            assertThat(hints.ready).contains(Signals.topic(namespace(), TYPE));
        }

        runs.forEach((status, run) -> assertThat(status(run))
                .as(status.name())
                .isEqualTo(status == RunStatus.FAILED || status == RunStatus.CANCELLED ? RunStatus.PENDING : status));
        assertThat(status(deleted)).isEqualTo(RunStatus.FAILED);
        assertThat(store().retryAll(all)).as("again").isZero();
    }

    @Test
    @Proves({"RETRY-1", "STEP-7"})
    default void runs_that_are_retried_together_forget_their_failed_steps() {
        var runs = new ArrayList<RunId>();
        for (int i = 0; i < 3; i++) {
            var run = running();
            write(new Write.SaveStep(run.id(), run.epoch(), failedStep("ship", 1)));
            finish(run, RunStatus.FAILED);
            runs.add(run.id());
        }

        store().retryAll(runs);

        assertThat(runs).allSatisfy(run -> assertThat(store().steps(run)).isEmpty());
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    default void a_run_whose_key_was_taken_is_left_alone_and_the_others_are_retried() {
        var taken = aRun().key("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var first = in(RunStatus.FAILED);
        var blocked = ended(taken, RunStatus.FAILED);
        var last = in(RunStatus.FAILED);
        var keeping = ended(aRun().key("order-2"), RunStatus.FAILED);
        create(taken);

        assertThat(store().retryAll(List.of(last, blocked, first, keeping))).isEqualTo(3);

        assertThat(status(blocked)).isEqualTo(RunStatus.FAILED);
        assertThat(List.of(status(first), status(last), status(keeping))).containsOnly(RunStatus.PENDING);
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    default void of_several_runs_with_one_key_one_is_retried() {
        var spec = aRun().key("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var runs = new ArrayList<RunId>();
        for (int i = 0; i < 3; i++) {
            runs.add(ended(spec, RunStatus.FAILED));
        }

        assertThat(store().retryAll(runs)).isEqualTo(1);

        assertThat(runs).extracting(this::status).containsOnlyOnce(RunStatus.PENDING);
    }

    @Test
    @Proves({"RETRY-1", "TRIG-3"})
    default void keys_that_are_taken_at_the_same_moment_do_not_keep_other_runs_from_being_retried() {
        for (int race = 0; race < 10; race++) {
            var free = new ArrayList<RunId>();
            var contested = new ArrayList<RunId>();
            for (int i = 0; i < 10; i++) {
                free.add(in(RunStatus.FAILED));
                contested.add(ended(contested(race, i), RunStatus.FAILED));
            }
            var both = new ArrayList<>(free);
            both.addAll(contested);
            var taken = new AtomicInteger();
            int thisRace = race;
            var rival = CompletableFuture.runAsync(() -> {
                for (int i = 9; i >= 0; i--) {
                    if (trigger(contested(thisRace, i)).outcome() == TriggerResult.Outcome.CREATED) {
                        taken.incrementAndGet();
                    }
                }
            });

            int retried = store().retryAll(both);
            rival.join();

            assertThat(free).extracting(this::status).containsOnly(RunStatus.PENDING);
            assertThat(retried).isEqualTo(20 - taken.get());
            claim(claimOf(TYPE, 100));
        }
    }

    private RunSpec contested(int race, int number) {
        return aRun().key("order-%d-%d".formatted(race, number)).keyPolicy(KeyPolicy.WHILE_ACTIVE);
    }

    @Test
    @Proves({"RETRY-1", "DATA-4"})
    default void of_many_runs_those_that_are_not_deleted_yet_are_deleted() {
        var runs = oneInEachStatus();
        var first = runs.get(RunStatus.FAILED);
        store().delete(first, "first reason");

        assertThat(store().deleteAll(withUnknown(runs), "second reason")).isEqualTo(6);

        runs.forEach((status, run) -> {
            assertThat(status(run)).isEqualTo(status);
            assertThat(info(run).deletedReason()).isEqualTo(run.equals(first) ? "first reason" : "second reason");
        });
    }

    @Test
    @Proves("RETRY-1")
    default void nothing_asked_of_nobody_changes_nothing() {
        assertThat(store().cancelAll(List.of())).isZero();
        assertThat(store().retryAll(List.of())).isZero();
        assertThat(store().deleteAll(List.of(), "test")).isZero();
    }

    @Test
    @Proves({"RETRY-1", "DATA-3"})
    default void ids_are_listed_like_runs() {
        var runs = new ArrayList<RunId>();
        for (int i = 0; i < 5; i++) {
            runs.add(create(aRun()));
        }
        Collections.reverse(runs);
        store().delete(runs.get(4), "test");

        assertThat(store().listIds(namespace(), QueryRules.ALL, null, 3)).isEqualTo(runs.subList(0, 3));
        assertThat(store().listIds(namespace(), QueryRules.ALL, runs.get(2), 3)).isEqualTo(runs.subList(3, 4));
    }

    private Map<RunStatus, RunId> oneInEachStatus() {
        var runs = new EnumMap<RunStatus, RunId>(RunStatus.class);
        for (var status : List.of(
                RunStatus.COMPLETED,
                RunStatus.FAILED,
                RunStatus.CANCELLED,
                RunStatus.RUNNING,
                RunStatus.SLEEPING,
                RunStatus.PAUSED,
                RunStatus.PENDING)) {
            runs.put(status, in(status));
        }
        return runs;
    }

    private List<RunId> withUnknown(Map<RunStatus, RunId> runs) {
        var all = new ArrayList<>(runs.values());
        all.add(aRun().build().id());
        return all;
    }
}
