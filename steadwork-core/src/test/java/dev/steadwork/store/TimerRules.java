package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.steadwork.DeadLetter;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.store.HeartbeatAnswer.Requests;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What happens by time: timers, leases, deadlines. */
interface TimerRules extends StoreRules {
    Instant PAST = Instant.parse("2020-01-01T00:00:00Z");

    /** A run whose lease has ended already. */
    default ClaimedRun expired(RunSpec spec) {
        var run = create(spec);
        var request = new ClaimRequest(
                namespace(), WORKER, List.of(info(run).queue()), List.of(TYPE), List.of(), List.of(), 1, Duration.ZERO);
        return store().claim(request).runs().get(0);
    }

    @Test
    @Proves({"CLAIM-2", "SLEEP-1"})
    default void a_due_sleeper_becomes_ready_since_its_wake_time() {
        var run = running();
        park(run, Write.Wake.at(PAST));

        assertThat(promote()).isEqualTo(new Promotion(1, null));

        var info = info(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.times().due()).isEqualTo(PAST);
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, run.epoch(), 0));
    }

    @Test
    @Proves({"CLAIM-2", "CLAIM-7"})
    default void a_sleeper_that_is_not_due_tells_when_it_will_be() {
        var run = in(RunStatus.SLEEPING);
        create(aRun().startAfter(Duration.ofHours(5)));

        var promotion = promote();

        assertThat(promotion.promoted()).isZero();
        assertThat(promotion.untilNext()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
        assertThat(status(run)).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves("CLAIM-7")
    default void without_timers_there_is_no_next_one() {
        create(aRun());

        assertThat(promote()).isEqualTo(new Promotion(0, null));
    }

    @Test
    @Proves({"LEASE-3", "LEASE-6", "CLAIM-2"})
    default void an_expired_lease_is_lost_and_the_run_ready() {
        var run = expired(aRun());

        assertThat(promote().promoted()).isEqualTo(1);

        var info = info(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, run.epoch() + 1, 1));
        assertThat(claimOnly(run.id()).lostLeases()).isEqualTo(1);
    }

    @Test
    @Proves({"LEASE-6", "CLAIM-3"})
    default void a_run_that_lost_its_worker_goes_before_those_that_have_not_begun() {
        var lost = running();
        var waiting = create(aRun());
        store().heartbeat(heartbeat(new Heartbeat.Held(lost.id(), lost.epoch(), Duration.ZERO, null, null)));

        assertThat(promote().promoted()).isEqualTo(1);

        assertThat(claim(claimOf(TYPE, 10))).containsExactly(lost.id(), waiting);
    }

    @Test
    @Proves("LEASE-6")
    default void a_lease_that_has_not_ended_is_left_alone() {
        var run = running();

        var promotion = promote();

        assertThat(promotion.promoted()).isZero();
        assertThat(promotion.untilNext()).isBetween(LEASE.minusSeconds(60), LEASE);
        assertThat(status(run.id())).isEqualTo(RunStatus.RUNNING);
    }

    @Test
    @Proves("LEASE-3")
    default void a_worker_does_not_take_from_itself_what_it_executes() {
        var mine = expired(aRun());
        var lost = expired(aRun());

        assertThat(promote(List.of(mine.id()))).isEqualTo(new Promotion(1, null));

        assertThat(status(mine.id())).isEqualTo(RunStatus.RUNNING);
        assertThat(status(lost.id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves({"CLAIM-2", "SLEEP-2"})
    default void promotion_is_done_in_batches_and_says_if_more_is_due() {
        var runs = new ArrayList<NewRun>();
        for (int i = 0; i < 5; i++) {
            runs.add(aRun().build());
        }
        store().triggerAll(runs);
        store().claim(claimOf(TYPE, 5)).runs().forEach(run -> park(run, Write.Wake.at(PAST)));
        var request = new PromoteRequest(namespace(), List.of(TYPE), List.of(), 3);

        assertThat(store().promote(request)).isEqualTo(new Promotion(3, Duration.ZERO));
        assertThat(store().promote(request)).isEqualTo(new Promotion(2, null));
        assertThat(store().promote(request)).isEqualTo(new Promotion(0, null));
    }

    @Test
    @Proves("CLAIM-2")
    default void promotion_looks_at_the_queues_it_was_asked_for() {
        var run = running(aRun().queue("other"));
        park(run, Write.Wake.at(PAST));

        assertThat(promote()).isEqualTo(new Promotion(0, null));
        assertThat(store().promote(new PromoteRequest(namespace(), List.of(TYPE, "other"), List.of(), 10)))
                .isEqualTo(new Promotion(1, null));
    }

    @Test
    @Proves({"CLAIM-2", "DATA-4"})
    default void deleted_runs_have_no_timers() {
        var run = running();
        park(run, Write.Wake.at(PAST));
        store().delete(run.id(), "test");
        store().delete(expired(aRun()).id(), "test");

        assertThat(promote()).isEqualTo(new Promotion(0, null));
    }

    @Test
    @Proves({"EVENT-2", "CLAIM-2"})
    default void a_paused_run_does_not_wake() {
        var run = running();
        park(run, Write.Wake.at(PAST));
        store().pause(run.id());

        assertThat(promote()).isEqualTo(new Promotion(0, null));
        assertThat(status(run.id())).isEqualTo(RunStatus.PAUSED);
    }

    @Test
    @Proves("CLAIM-7")
    default void a_promotion_of_many_is_told_so_that_others_help() {
        var hints = new Hints();
        expired(aRun());
        expired(aRun());
        try (var subscription = store().signals().subscribe(hints)) {
            promote();

            assertThat(hints.ready).contains(Signals.topic(namespace(), TYPE));
        }
    }

    @Test
    @Proves("LEASE-2")
    default void a_heartbeat_prolongs_exactly_the_leases_it_names() {
        var held = running(aRun().queue("a"));
        var silent = running(aRun().queue("b"));
        var before = info(silent.id());

        var answer = store().heartbeat(
                        heartbeat(new Heartbeat.Held(held.id(), held.epoch(), Duration.ofHours(7), null, null)));

        assertThat(answer.held()).isEqualTo(Map.of(held.id(), new Requests(false, false)));
        assertThat(info(held.id()).times().due()).isEqualTo(answer.now().plus(Duration.ofHours(7)));
        assertThat(info(silent.id())).isEqualTo(before);
    }

    private Heartbeat heartbeat(Heartbeat.Held... held) {
        return new Heartbeat(namespace(), WORKER, List.of(held), held.length, 0, 0, false);
    }

    private static Heartbeat.Held held(RunId run, long epoch) {
        return new Heartbeat.Held(run, epoch, LEASE, null, null);
    }

    @Test
    @Proves("LEASE-3")
    default void a_heartbeat_tells_which_leases_are_lost() {
        var stale = running();
        write(new Write.Release(stale.id(), stale.epoch()));
        var current = claimOnly(stale.id());
        var ended = running(aRun().queue("b"));
        finish(ended, RunStatus.COMPLETED);
        var unknown = aRun().build().id();

        var answer = store().heartbeat(
                        heartbeat(held(stale.id(), stale.epoch()), held(ended.id(), ended.epoch()), held(unknown, 1)));

        assertThat(answer.held()).isEmpty();
        assertThat(info(current.id()).status()).isEqualTo(RunStatus.RUNNING);
    }

    @Test
    @Proves({"CANCEL-1", "EVENT-2"})
    default void a_heartbeat_tells_what_was_asked_of_the_runs() {
        var cancelled = running(aRun().queue("a"));
        var paused = running(aRun().queue("b"));
        store().cancel(cancelled.id());
        store().pause(paused.id());

        var answer = store().heartbeat(
                        heartbeat(held(cancelled.id(), cancelled.epoch()), held(paused.id(), paused.epoch())));

        assertThat(answer.held())
                .isEqualTo(Map.of(
                        cancelled.id(), new Requests(true, false),
                        paused.id(), new Requests(false, true)));
    }

    @Test
    @Proves("STEP-13")
    default void a_heartbeat_shows_the_step_that_executes() {
        var run = running();
        write(new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1")));

        var answer = store().heartbeat(
                        heartbeat(new Heartbeat.Held(run.id(), run.epoch(), LEASE, "ship", Duration.ofSeconds(30))));

        var since = answer.now().minusSeconds(30);
        assertThat(info(run.id()).runningStep()).isEqualTo(new RunInfo.RunningStep("ship", since));
        assertThat(store().steps(run.id()))
                .extracting(StepInfo::name, StepInfo::status, StepInfo::position)
                .containsExactly(tuple("charge", StepStatus.COMPLETED, 1), tuple("ship", StepStatus.RUNNING, 2));
        store().heartbeat(heartbeat(held(run.id(), run.epoch())));
        assertThat(info(run.id()).runningStep()).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "SLEEPING", "PAUSED"})
    @Proves("RUN-6")
    default void a_waiting_run_past_its_deadline_fails(RunStatus status) {
        var hints = new Hints();
        var spec = status == RunStatus.SLEEPING ? aRun().startAfter(Duration.ofHours(1)) : aRun();
        var run = create(spec.deadlineAt(PAST));
        if (status == RunStatus.PAUSED) {
            store().pause(run);
        }
        assertThat(status(run)).isEqualTo(status);

        try (var subscription = store().signals().subscribe(hints)) {
            assertThat(store().expireDeadlines(namespace(), noDeadLetters())).isEqualTo(1);
            assertThat(hints.ended).contains(Signals.hash(run));
        }

        var info = info(run);
        assertThat(info.status()).isEqualTo(RunStatus.FAILED);
        assertThat(info.error().type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        assertThat(info.error().message()).contains("2020-01-01T00:00:00Z");
        assertThat(info.finishedAt()).isNotNull();
        assertThat(info.times().due()).isNull();
        assertThat(store().expireDeadlines(namespace(), noDeadLetters())).isZero();
    }

    private static DeadLetters noDeadLetters() {
        return (type, failed, failedType, input, error) -> {
            throw new AssertionError("No dead letter was asked for");
        };
    }

    @Test
    @Proves("RUN-6")
    default void a_deadline_that_has_not_passed_or_is_the_workers_business_is_left_alone() {
        create(aRun().deadlineAfter(Duration.ofHours(1)));
        running(aRun().queue("b").deadlineAt(PAST));
        store().delete(create(aRun().deadlineAt(PAST)), "test");
        ended(aRun().queue("c").deadlineAt(PAST), RunStatus.COMPLETED);
        create(new RunSpec(namespace() + "-b", TYPE).deadlineAt(PAST));

        assertThat(store().expireDeadlines(namespace(), noDeadLetters())).isZero();
    }

    @Test
    @Proves({"RUN-6", "DEAD-1"})
    default void a_run_that_fails_by_its_deadline_leaves_a_dead_letter() {
        register(Workflow.define(TYPE, String.class, String.class)
                .deadLetter(Workflow.define("dead", DeadLetter.class, Void.class)));
        var input = StoreRules.json("{\"order\":1}");
        var run = create(aRun().deadlineAt(PAST).input(input));
        var letters = new ArrayList<NewRun>();

        store().expireDeadlines(namespace(), (type, failed, failedType, payload, error) -> {
            assertThat(List.of(type, failed, failedType, payload, error.type()))
                    .isEqualTo(List.of("dead", run, TYPE, input, RunError.DEADLINE_EXCEEDED));
            var letter = new RunSpec(namespace(), type)
                    .input(new Payload(new byte[] {1}, Payload.BYTES))
                    .build();
            letters.add(letter);
            return letter;
        });

        assertThat(letters).hasSize(1);
        assertThat(status(letters.get(0).id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("RUN-6")
    default void deadlines_are_enforced_a_hundred_at_a_time() {
        var runs = new ArrayList<NewRun>();
        for (int i = 0; i < 130; i++) {
            runs.add(aRun().deadlineAt(PAST).build());
        }
        store().triggerAll(runs);

        assertThat(store().expireDeadlines(namespace(), noDeadLetters())).isEqualTo(100);
        assertThat(store().expireDeadlines(namespace(), noDeadLetters())).isEqualTo(30);
    }
}
