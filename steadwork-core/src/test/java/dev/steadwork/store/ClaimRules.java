package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.attempt;
import static dev.steadwork.store.StoreRules.json;
import static dev.steadwork.store.StoreRules.sleepStep;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.StepStatus;
import dev.steadwork.testing.Proves;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How work is handed out. */
interface ClaimRules extends StoreRules {

    @Test
    @Proves({"CLAIM-1", "LEASE-2", "RUN-2"})
    default void a_claimed_run_is_running_under_a_new_epoch_until_its_lease_ends() {
        var run = create(aRun().priority(4).retry(RetryPolicy.none()).input(json("1")));

        var claimed = store().claim(claimOf(TYPE, 10));

        var info = info(run);
        assertThat(info.status()).isEqualTo(RunStatus.RUNNING);
        assertThat(info.lease().epoch()).isEqualTo(1);
        assertThat(info.lease().worker()).isEqualTo(WORKER);
        assertThat(info.startedAt())
                .isEqualTo(claimed.now())
                .isEqualTo(info.times().updated());
        assertThat(info.times().due()).isEqualTo(claimed.now().plus(LEASE));
        assertThat(claimed.runs())
                .containsExactly(new ClaimedRun(
                        run,
                        TYPE,
                        TYPE,
                        4,
                        1,
                        1,
                        json("1"),
                        RetryPolicy.none(),
                        null,
                        claimed.now(),
                        0,
                        false,
                        null,
                        0,
                        0,
                        false,
                        List.of()));
    }

    @Test
    @Proves("CLAIM-3")
    default void the_best_run_is_handed_out_first() {
        var plain = create(aRun());
        var later = create(aRun());
        var urgent = create(aRun().priority(10));
        var unimportant = create(aRun().priority(-1));

        assertThat(claim(claimOf(TYPE, 3))).containsExactly(urgent, plain, later);
        assertThat(claim(claimOf(TYPE, 3))).containsExactly(unimportant);
        assertThat(claim(claimOf(TYPE, 3))).isEmpty();
    }

    @Test
    @Proves("CLAIM-3")
    default void of_equal_priority_the_one_due_first_is_handed_out_first() {
        var created = create(aRun());
        var woken = running(aRun().queue("other"));
        park(woken, Write.Wake.at(Instant.parse("2020-01-01T00:00:00Z")));
        store().promote(new PromoteRequest(namespace(), List.of("other"), List.of(), 10));

        assertThat(claim(claimOf(List.of("other", TYPE)))).containsExactly(woken.id(), created);
    }

    @Test
    @Proves({"CLAIM-1", "CLAIM-3"})
    default void one_claim_takes_the_best_of_all_queues() {
        var a = create(aRun().queue("a").priority(1));
        create(aRun().queue("a"));
        var b = create(aRun().queue("b").priority(2));
        create(aRun().queue("c").priority(9));

        var request =
                new ClaimRequest(namespace(), WORKER, List.of("a", "b"), List.of(TYPE), List.of(), List.of(), 2, LEASE);

        assertThat(claim(request)).containsExactly(b, a);
    }

    @Test
    @Proves({"CLAIM-4", "CLAIM-9"})
    default void exact_types_leave_others_in_the_queue() {
        var other = create(new RunSpec(namespace(), "checkout.v2").queue(TYPE));
        var mine = create(aRun());

        assertThat(claim(claimOf(TYPE, 10))).containsExactly(mine);
        assertThat(status(other)).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("CLAIM-4")
    default void a_prefix_is_taken_by_the_letter() {
        var match = create(new RunSpec(namespace(), "a_b%c.d").queue("q"));
        create(new RunSpec(namespace(), "axbyc.d").queue("q"));
        create(new RunSpec(namespace(), "A_B%C.d").queue("q"));

        assertThat(claim(claimByPrefix("a_b%"))).containsExactly(match);
    }

    private ClaimRequest claimByPrefix(String prefix) {
        return new ClaimRequest(
                namespace(), WORKER, List.of("q"), List.of("ignored"), List.of("zzz", prefix), List.of(), 10, LEASE);
    }

    @Test
    @Proves("TRIG-9")
    default void versions_are_claimed_by_those_who_serve_them() {
        var two = create(aRun().version("2"));
        create(aRun().version("1"));
        create(aRun());

        var request = new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of("2", "3"), 10, LEASE);

        assertThat(claim(request)).containsExactly(two);
        assertThat(claim(claimOf(TYPE, 10))).as("without versions: any").hasSize(2);
    }

    @Test
    @Proves("CLAIM-4")
    default void namespaces_do_not_see_each_other() {
        create(new RunSpec(namespace() + "-b", TYPE));

        assertThat(claim(claimOf(TYPE, 10))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "PENDING")
    @Proves("CLAIM-2")
    default void only_pending_runs_are_claimed(RunStatus status) {
        in(status);

        assertThat(claim(claimOf(TYPE, 10))).isEmpty();
    }

    @Test
    @Proves({"CLAIM-2", "DATA-4"})
    default void a_deleted_run_is_never_claimed() {
        store().delete(create(aRun()), "test");

        assertThat(claim(claimOf(TYPE, 10))).isEmpty();
    }

    @Test
    @Proves({"CLAIM-1", "STEP-1"})
    default void a_claim_brings_the_recorded_steps_in_the_order_of_their_calls() {
        var first = running();
        var charge = step("charge", 1, "{\"id\":1}");
        var ship = step("ship", 2, "null");
        write(new Write.SaveStep(first.id(), first.epoch(), ship));
        write(new Write.SaveStep(first.id(), first.epoch(), charge));
        var wake = Instant.parse("2020-01-01T00:00:00Z");
        write(new Write.Park(first.id(), first.epoch(), Write.Wake.at(wake), sleepStep("wait", 3), null, 1, null));
        promote();

        var second = claimOnly(first.id());

        assertThat(second.epoch()).isEqualTo(2);
        assertThat(second.steps()).hasSize(3);
        assertThat(second.steps().get(0)).isEqualTo(charge);
        assertThat(second.steps().get(1)).isEqualTo(ship);
        assertThat(second.steps().get(2).wakeAt()).isEqualTo(wake);
    }

    @Test
    @Proves({"STEP-6", "STEP-7"})
    default void a_step_whose_attempts_failed_comes_back_as_retrying() {
        var first = running();
        write(new Write.SaveAttempt(first.id(), first.epoch(), attempt("charge", 1, 1)));
        write(new Write.SaveAttempt(first.id(), first.epoch(), attempt("charge", 1, 2)));
        write(new Write.SaveAttempt(first.id(), first.epoch(), attempt("ship", 2, 1)));
        write(new Write.SaveStep(first.id(), first.epoch(), step("ship", 2, "1")));
        write(new Write.Release(first.id(), first.epoch()));

        var steps = claimOnly(first.id()).steps();

        assertThat(steps)
                .extracting(step -> step.key().name(), StepRecord::status, StepRecord::attempt)
                .containsExactlyInAnyOrder(
                        tuple("charge", StepStatus.RETRYING, 2), tuple("ship", StepStatus.COMPLETED, 1));
    }

    @Test
    @Proves("RUN-5")
    default void the_first_start_is_kept_when_a_run_is_claimed_again() {
        var first = running();
        write(new Write.Release(first.id(), first.epoch()));

        var second = claimOnly(first.id());

        assertThat(second.startedAt()).isEqualTo(first.startedAt());
        assertThat(info(first.id()).startedAt()).isEqualTo(first.startedAt());
    }

    @Test
    @Proves("CANCEL-1")
    default void a_claim_tells_that_cancellation_was_asked_for() {
        var first = running();
        store().cancel(first.id());
        write(new Write.Release(first.id(), first.epoch()));

        assertThat(claimOnly(first.id()).cancelRequested()).isTrue();
    }

    @Test
    @Proves({"CLAIM-5", "CLAIM-1"})
    default void many_claimers_never_get_the_same_run() throws Exception {
        var runs = new ArrayList<NewRun>();
        for (int i = 0; i < 300; i++) {
            runs.add(aRun().build());
        }
        store().triggerAll(runs);

        var claimed = claimAllWith(8);

        assertThat(claimed).doesNotHaveDuplicates().hasSize(300);
    }

    private List<RunId> claimAllWith(int threads) throws Exception {
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var futures = new ArrayList<Future<List<RunId>>>();
            for (int i = 0; i < threads; i++) {
                futures.add(pool.submit(this::claimUntilEmpty));
            }
            var all = new ArrayList<RunId>();
            for (var future : futures) {
                all.addAll(future.get());
            }
            return all;
        } finally {
            pool.shutdown();
        }
    }

    private List<RunId> claimUntilEmpty() {
        var mine = new ArrayList<RunId>();
        for (var batch = claim(claimOf(TYPE, 7)); !batch.isEmpty(); batch = claim(claimOf(TYPE, 7))) {
            mine.addAll(batch);
        }
        return mine;
    }

    private ClaimRequest claimOf(List<String> queues) {
        return new ClaimRequest(namespace(), WORKER, queues, List.of(TYPE), List.of(), List.of(), 10, LEASE);
    }
}
