package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.attempt;
import static dev.steadwork.store.StoreRules.json;
import static dev.steadwork.store.StoreRules.sleepStep;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.steadwork.LeaseLost;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a worker may write, and what it learns when it may not. */
interface FenceRules extends StoreRules {
    Write.Wake IN_AN_HOUR = Write.Wake.after(Duration.ofHours(1));

    /** Every kind of write that a worker makes. */
    static List<Named<BiFunction<RunId, Long, Write.Fenced>>> workerWrites() {
        return List.of(
                Named.of("SaveStep", (run, epoch) -> new Write.SaveStep(run, epoch, step("late", 9, "1"))),
                Named.of("SaveAttempt", (run, epoch) -> new Write.SaveAttempt(run, epoch, attempt("late", 9, 1))),
                Named.of(
                        "Finish",
                        (run, epoch) -> new Write.Finish(run, epoch, RunStatus.COMPLETED, json("1"), null, null)),
                Named.of(
                        "Park",
                        (run, epoch) -> new Write.Park(run, epoch, IN_AN_HOUR, sleepStep("late", 9), null, 1, null)),
                Named.of("Pause", Write.Pause::new),
                Named.of("Release", Write.Release::new));
    }

    @ParameterizedTest
    @MethodSource("workerWrites")
    @Proves("LEASE-3")
    default void a_write_under_an_older_epoch_changes_nothing(BiFunction<RunId, Long, Write.Fenced> write) {
        var first = running();
        write(new Write.Release(first.id(), first.epoch()));
        claimOnly(first.id());
        var before = info(first.id());

        var ack = write(write.apply(first.id(), first.epoch()));

        assertThat(ack).isEqualTo(Ack.LEASE_LOST);
        assertThat(info(first.id())).isEqualTo(before);
        assertThat(store().steps(first.id())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("workerWrites")
    @Proves("LEASE-3")
    default void a_write_under_an_epoch_that_never_was_changes_nothing(BiFunction<RunId, Long, Write.Fenced> write) {
        var run = running();
        var before = info(run.id());

        assertThat(write(write.apply(run.id(), run.epoch() + 1))).isEqualTo(Ack.LEASE_LOST);
        assertThat(info(run.id())).isEqualTo(before);
        assertThat(store().steps(run.id())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("workerWrites")
    @Proves({"LEASE-3", "CANCEL-1"})
    default void a_write_to_a_terminated_run_changes_nothing(BiFunction<RunId, Long, Write.Fenced> write) {
        var run = running();
        store().terminate(run.id(), "test");
        var before = info(run.id());

        assertThat(write(write.apply(run.id(), run.epoch()))).isEqualTo(Ack.LEASE_LOST);
        assertThat(info(run.id())).isEqualTo(before);
        assertThat(store().steps(run.id())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("workerWrites")
    @Proves("STEP-4")
    default void a_write_to_an_unknown_run_is_answered_as_such(BiFunction<RunId, Long, Write.Fenced> write) {
        assertThat(write(write.apply(aRun().build().id(), 1L))).isEqualTo(Ack.NOT_FOUND);
    }

    @Test
    @Proves({"LEASE-3", "STEP-11"})
    default void a_transactional_step_that_was_kept_is_confirmed_to_the_holder_of_the_run_only() throws Exception {
        var first = running();
        var debit = step("debit", 1, "1");
        store().transact(first.id(), first.epoch(), debit.key(), sql -> debit);
        assertThat(store().transact(first.id(), first.epoch(), debit.key(), sql -> fail("once is enough"))
                        .output())
                .isEqualTo(debit.output());
        write(new Write.Release(first.id(), first.epoch()));
        claimOnly(first.id());

        assertThatThrownBy(() -> store().transact(first.id(), first.epoch(), debit.key(), sql -> fail("too late")))
                .isInstanceOf(LeaseLost.class);
    }

    @Test
    @Proves("LEASE-3")
    default void an_expired_lease_that_nobody_took_is_still_good() {
        create(aRun());
        var request = new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of(), 1, Duration.ZERO);
        var run = store().claim(request).runs().get(0);

        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
    }

    @Test
    @Proves("LEASE-3")
    default void after_promotion_of_an_expired_lease_its_epoch_is_worth_nothing() {
        create(aRun());
        var request = new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of(), 1, Duration.ZERO);
        var run = store().claim(request).runs().get(0);
        promote();

        assertThat(write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1"))))
                .isEqualTo(Ack.LEASE_LOST);
        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.LEASE_LOST);
        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves({"LEASE-3", "STEP-4"})
    default void the_same_result_of_the_next_worker_does_not_confirm_a_step_of_the_one_before() {
        var first = running();
        write(new Write.Release(first.id(), first.epoch()));
        var next = claimOnly(first.id());
        var kept = step("charge", 1, "1");
        var late = step("charge", 1, "1", kept.startedAt().minusMillis(1));
        write(new Write.SaveStep(next.id(), next.epoch(), kept));

        assertThat(write(new Write.SaveStep(first.id(), first.epoch(), late))).isEqualTo(Ack.LEASE_LOST);
    }

    @Test
    @Proves({"STEP-1", "STEP-4"})
    default void the_first_outcome_of_a_step_stays() {
        var run = running();

        var first = write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "\"first\"")));
        var again = write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "\"second\"")));

        assertThat(first).isEqualTo(Ack.STORED);
        assertThat(again).isEqualTo(Ack.STORED);
        assertThat(store().steps(run.id())).extracting(StepInfo::output).containsExactly(json("\"first\""));
    }

    @Test
    @Proves({"STEP-4", "CANCEL-1"})
    default void a_checkpoint_that_is_sent_again_tells_of_a_cancellation_that_came_meanwhile() {
        var run = running();
        var save = new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1"));
        write(save);

        store().cancel(run.id());

        assertThat(write(save)).isEqualTo(new Ack(Ack.Outcome.STORED, true, false));
    }

    @Test
    @Proves({"STEP-4", "RUN-5"})
    default void a_finish_ends_the_run_once() {
        var run = running();
        store().heartbeat(heartbeatFor(run));
        var finish = new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, json("42"), null, null);

        assertThat(write(finish)).isEqualTo(Ack.STORED);
        var ended = info(run.id());
        assertThat(write(finish)).as("sent again").isEqualTo(Ack.STORED);

        assertThat(info(run.id())).isEqualTo(ended);
        assertThat(ended.status()).isEqualTo(RunStatus.COMPLETED);
        assertThat(ended.finishedAt()).isNotNull().isEqualTo(ended.times().updated());
        assertThat(ended.times().due()).isNull();
        assertThat(ended.lease()).isEqualTo(new RunInfo.Lease(null, 1, 0));
        assertThat(ended.runningStep()).isNull();
        assertThat(store().ends(List.of(run.id())))
                .containsExactly(new RunEnd(run.id(), RunStatus.COMPLETED, json("42"), null));
    }

    private Heartbeat heartbeatFor(ClaimedRun run) {
        var held = new Heartbeat.Held(run.id(), run.epoch(), LEASE, "charge", Duration.ofSeconds(3));
        return new Heartbeat(namespace(), WORKER, List.of(held), 1, 0, 0, false);
    }

    @Test
    @Proves("STEP-4")
    default void a_run_that_ended_one_way_does_not_end_another_way() {
        var run = running();
        finish(run, RunStatus.COMPLETED);

        assertThat(finish(run, RunStatus.FAILED)).isEqualTo(Ack.LEASE_LOST);
        assertThat(status(run.id())).isEqualTo(RunStatus.COMPLETED);
    }

    @Test
    @Proves("RUN-1")
    default void the_error_of_a_failed_run_is_kept_whole() {
        var run = running();
        var error = new RunError("a.B", "bad \0 and \uD800 \"quoted\"", "charge#2", "at a.b.C\n\tat d.e.F");

        write(new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, error, null));

        var kept = new RunError("a.B", "bad \uFFFD and \uFFFD \"quoted\"", "charge#2", "at a.b.C\n\tat d.e.F");
        assertThat(info(run.id()).error()).isEqualTo(kept);
    }

    @Test
    @Proves("CANCEL-1")
    default void cancellation_comes_before_any_other_end() {
        var run = running();
        store().cancel(run.id());

        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.REFUSED);
        assertThat(finish(run, RunStatus.FAILED)).isEqualTo(Ack.REFUSED);
        assertThat(park(run, IN_AN_HOUR)).isEqualTo(Ack.REFUSED);
        assertThat(write(new Write.Pause(run.id(), run.epoch()))).isEqualTo(Ack.REFUSED);
        assertThat(status(run.id())).isEqualTo(RunStatus.RUNNING);
        assertThat(finish(run, RunStatus.CANCELLED).outcome()).isEqualTo(Ack.Outcome.STORED);
        assertThat(status(run.id())).isEqualTo(RunStatus.CANCELLED);
    }

    @Test
    @Proves({"CANCEL-1", "EVENT-2"})
    default void the_answer_to_a_checkpoint_tells_what_was_asked_of_the_run() {
        var run = running();
        store().cancel(run.id());
        store().pause(run.id());

        var ack = write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1")));

        assertThat(ack).isEqualTo(new Ack(Ack.Outcome.STORED, true, true));
    }

    @Test
    @Proves("DEAD-1")
    default void a_failing_run_leaves_its_dead_letter_in_the_same_transaction() {
        var run = running();
        var letter = new RunSpec(namespace(), "dead").build();

        write(new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, ERROR, letter));

        assertThat(status(letter.id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves({"DEAD-1", "LEASE-3"})
    default void a_finish_that_does_not_apply_leaves_no_dead_letter() {
        var stale = running();
        write(new Write.Release(stale.id(), stale.epoch()));
        var cancelled = claimOnly(stale.id());
        store().cancel(cancelled.id());
        var letter = new RunSpec(namespace(), "dead").build();

        for (var run : List.of(stale, cancelled)) {
            write(new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, ERROR, letter));
        }

        assertThat(store().find(letter.id())).isNull();
    }

    @Test
    @Proves({"SLEEP-1", "RUN-2"})
    default void a_parked_run_sleeps_and_its_timer_is_kept_with_it() {
        var run = running();
        var wake = Instant.parse("2050-01-01T00:00:00.123456Z");

        var ack = write(
                new Write.Park(run.id(), run.epoch(), Write.Wake.at(wake), sleepStep("cooling-off", 1), null, 1, null));

        assertThat(ack).isEqualTo(Ack.STORED);
        var info = info(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.SLEEPING);
        assertThat(info.times().due()).isEqualTo(wake);
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, 1, 0));
        assertThat(store().steps(run.id()))
                .singleElement()
                .satisfies(step -> assertThat(step.finishedAt()).isEqualTo(wake));
    }

    @Test
    @Proves({"STEP-5", "SLEEP-1"})
    default void a_park_that_is_sent_again_is_a_success_and_changes_nothing() {
        var run = running();
        var park = new Write.Park(run.id(), run.epoch(), IN_AN_HOUR, sleepStep("wait", 1), null, 1, null);
        write(park);
        var parked = info(run.id());

        assertThat(write(park).outcome()).isEqualTo(Ack.Outcome.STORED);
        assertThat(info(run.id())).isEqualTo(parked);
        store().pause(run.id());
        assertThat(write(park).outcome()).as("paused meanwhile").isEqualTo(Ack.Outcome.STORED);
    }

    @Test
    @Proves("RUN-6")
    default void a_parked_run_wakes_at_its_deadline_at_the_latest() {
        var deadline = Instant.parse("2050-01-01T00:00:00Z");
        var run = running(aRun().deadlineAt(deadline));
        var wake = deadline.plusSeconds(3600);

        write(new Write.Park(run.id(), run.epoch(), Write.Wake.at(wake), sleepStep("wait", 1), null, 1, null));

        assertThat(info(run.id()).times().due()).isEqualTo(deadline);
        assertThat(store().steps(run.id()).get(0).finishedAt())
                .as("the timer itself")
                .isEqualTo(wake);
    }

    @Test
    @Proves({"STEP-6", "STEP-7"})
    default void parking_for_a_retry_keeps_the_attempt_and_its_error() {
        var run = running();

        write(new Write.Park(run.id(), run.epoch(), IN_AN_HOUR, null, attempt("charge", 1, 1), 3, ERROR));

        assertThat(info(run.id()).attempt()).isEqualTo(3);
        assertThat(info(run.id()).error()).isEqualTo(ERROR);
        assertThat(store().steps(run.id()))
                .singleElement()
                .satisfies(step -> assertThat(step.failedAttempts())
                        .extracting(StepInfo.FailedAttempt::number)
                        .containsExactly(1));
    }

    @Test
    @Proves("EVENT-2")
    default void a_run_that_parks_after_a_pause_was_asked_is_paused() {
        var run = running();
        store().pause(run.id());

        var ack = park(run, IN_AN_HOUR);

        assertThat(ack.outcome()).isEqualTo(Ack.Outcome.STORED);
        var info = info(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.PAUSED);
        assertThat(info.times().paused()).isNotNull();
        assertThat(info.times().pauseRequested()).isNull();
        store().resume(run.id());
        assertThat(status(run.id())).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves("EVENT-2")
    default void a_pause_applies_if_the_request_still_stands() {
        var run = running();
        store().pause(run.id());

        assertThat(write(new Write.Pause(run.id(), run.epoch())).outcome()).isEqualTo(Ack.Outcome.STORED);

        assertThat(status(run.id())).isEqualTo(RunStatus.PAUSED);
        assertThat(info(run.id()).times().pauseRequested()).isNull();
        assertThat(info(run.id()).lease().worker()).isNull();
    }

    @Test
    @Proves("EVENT-2")
    default void a_pause_that_was_withdrawn_makes_the_run_ready_again() {
        var run = running();
        store().pause(run.id());
        store().resume(run.id());

        write(new Write.Pause(run.id(), run.epoch()));

        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
        assertThat(claimOnly(run.id()).epoch()).isEqualTo(run.epoch() + 1);
    }

    @Test
    @Proves({"LEASE-7", "LEASE-3"})
    default void a_released_run_is_ready_under_a_new_epoch() {
        var run = running();
        var release = new Write.Release(run.id(), run.epoch());

        assertThat(write(release)).isEqualTo(Ack.STORED);
        assertThat(write(release)).as("sent again").isEqualTo(Ack.STORED);

        var info = info(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, run.epoch() + 1, 0));
    }

    @Test
    @Proves("STEP-6")
    default void the_last_hundred_failed_attempts_of_a_step_are_kept() {
        var run = running();
        var batch = new ArrayList<Write>();
        for (int number = 1; number <= 105; number++) {
            batch.add(new Write.SaveAttempt(run.id(), run.epoch(), attempt("charge", 1, number)));
        }
        store().write(batch.subList(0, 60));
        store().write(batch.subList(60, 105));
        store().write(batch.subList(104, 105));

        var step = store().steps(run.id()).get(0);
        assertThat(step.attempt()).isEqualTo(105);
        assertThat(step.failedAttempts()).hasSize(100);
        assertThat(step.failedAttempts().get(0).number()).isEqualTo(6);
        assertThat(step.failedAttempts().get(99))
                .isEqualTo(new StepInfo.FailedAttempt(
                        105,
                        ERROR,
                        attempt("charge", 1, 105).startedAt(),
                        attempt("charge", 1, 105).finishedAt()));
    }

    @Test
    @Proves({"STEP-3", "LEASE-3", "TRIG-2"})
    default void writes_of_one_batch_do_not_disturb_each_other() {
        var keep = running();
        var stale = running(aRun().queue("b"));
        var park = running(aRun().queue("c"));
        var taken = create(aRun().key("taken"));
        var fresh = aRun().build();

        var results = store().write(List.of(
                new Write.Finish(stale.id(), stale.epoch() + 7, RunStatus.COMPLETED, Payload.NONE, null, null),
                new Write.SaveStep(keep.id(), keep.epoch(), step("one", 1, "1")),
                new Write.Trigger(aRun().key("taken").build()),
                new Write.SaveStep(keep.id(), keep.epoch(), step("two", 2, "2")),
                new Write.Release(aRun().build().id(), 1),
                new Write.SaveAttempt(keep.id(), keep.epoch(), attempt("three", 3, 1)),
                new Write.Park(park.id(), park.epoch(), IN_AN_HOUR, null, null, 1, null),
                new Write.Trigger(fresh)));

        assertThat(results)
                .containsExactly(
                        Ack.LEASE_LOST,
                        Ack.STORED,
                        new TriggerResult(TriggerResult.Outcome.EXISTED, taken, TYPE),
                        Ack.STORED,
                        Ack.NOT_FOUND,
                        Ack.STORED,
                        Ack.STORED,
                        new TriggerResult(TriggerResult.Outcome.CREATED, fresh.id(), null));
        assertThat(store().steps(keep.id())).extracting(StepInfo::name).containsExactly("one", "two", "three");
        assertThat(status(stale.id())).isEqualTo(RunStatus.RUNNING);
        assertThat(status(park.id())).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves({"STEP-3", "LEASE-3", "CANCEL-1"})
    default void of_steps_and_ends_that_share_a_batch_each_has_its_own_answer() {
        var held = List.of(running(), running(), running());
        store().cancel(held.get(1).id());
        var stale = running();
        write(new Write.Release(stale.id(), stale.epoch()));
        var all = List.of(held.get(0), held.get(1), stale, held.get(2));

        var steps = store().write(all.stream()
                .map(run -> new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1")))
                .toList());
        var ends = store().write(all.stream()
                .map(run -> new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null))
                .toList());

        var asked = new Ack(Ack.Outcome.STORED, true, false);
        assertThat(steps).containsExactly(Ack.STORED, asked, Ack.LEASE_LOST, Ack.STORED);
        assertThat(store().steps(stale.id())).isEmpty();
        assertThat(ends).containsExactly(Ack.STORED, Ack.REFUSED, Ack.LEASE_LOST, Ack.STORED);
        assertThat(all)
                .extracting(run -> status(run.id()))
                .containsExactly(RunStatus.COMPLETED, RunStatus.RUNNING, RunStatus.PENDING, RunStatus.COMPLETED);
    }

    @Test
    @Proves({"LEASE-3", "STEP-4"})
    default void of_two_executions_that_write_the_same_step_at_once_the_current_one_is_confirmed() {
        var stale = running();
        write(new Write.Release(stale.id(), stale.epoch()));
        var current = claimOnly(stale.id());

        var results = store().write(List.of(
                new Write.SaveStep(current.id(), current.epoch(), step("charge", 1, "new")),
                new Write.SaveStep(stale.id(), stale.epoch(), step("charge", 1, "old"))));

        assertThat(results).containsExactly(Ack.STORED, Ack.LEASE_LOST);
    }

    @Test
    @Proves({"RESULT-1", "CLAIM-7"})
    default void the_end_of_a_run_and_its_release_are_told() {
        var hints = new Hints();
        var ended = running(aRun().queue("a"));
        var released = running(aRun().queue("b"));
        var parked = running(aRun().queue("c"));
        try (var subscription = store().signals().subscribe(hints)) {
            finish(ended, RunStatus.COMPLETED);
            write(new Write.Release(released.id(), released.epoch()));
            park(parked, Write.Wake.after(Duration.ofSeconds(1)));

            assertThat(hints.ended).contains(Signals.hash(ended.id()));
            assertThat(hints.ready).contains(Signals.topic(namespace(), "b"), Signals.topic(namespace(), "c"));
        }
    }
}
