package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages to runs: signals, and the ends of children. */
interface MessageRules extends StoreRules {
    Write.Wake LATER = Write.Wake.after(Duration.ofHours(1));

    default Ack parkAwaiting(ClaimedRun run, String message, int seen) {
        return write(new Write.Park(
                run.id(), run.epoch(), LATER, null, null, run.attempt(), null, new Write.Awaits(message, seen)));
    }

    default StepRecord step(String name, StepKind kind, StepStatus status, RunId child) {
        var key = new StepRecord.Key(name, 1, 1);
        var time = Instant.parse("2026-01-01T00:00:00Z");
        return new StepRecord(key, kind, status, 1, Payload.NONE, Payload.NONE, null, time, null, null, child);
    }

    /** A child of the run that is PENDING, and whose end the run waits for. */
    default RunId child(ClaimedRun parent, boolean endsWithParent) {
        register(Workflow.define(TYPE, Object.class, Object.class));
        var child = childOf(parent, TYPE, endsWithParent);
        var step = step("child", StepKind.CHILD, StepStatus.WAITING, child.id());
        assertThat(write(new Write.SaveStep(parent.id(), parent.epoch(), step, child, null)))
                .isEqualTo(Ack.STORED);
        return child.id();
    }

    default NewRun childOf(ClaimedRun parent, String type, boolean endsWithParent) {
        return new NewRun(
                RunIds.beside(parent.id()),
                namespace(),
                type,
                null,
                null,
                Payload.NONE,
                0,
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                null,
                null,
                null,
                null,
                TriggerCheck.REQUIRE_REGISTERED,
                Map.of(),
                new RunInfo.Parent(parent.id(), "child"),
                parent.depth() + 1,
                endsWithParent);
    }

    default StepInfo childStep(RunId parent) {
        return store().steps(parent).get(0);
    }

    default Ack finishChild(ClaimedRun child, RunStatus status, Payload output, RunError error) {
        return write(new Write.Finish(
                child.id(), child.epoch(), status, output, error, null, child.parent(), status != RunStatus.COMPLETED));
    }

    @Test
    @Proves("EVENT-1")
    default void a_signal_wakes_a_run_that_awaits_it_and_no_other() {
        var run = running();
        parkAwaiting(run, Write.Awaits.signal("go"), 0);

        store().signal(run.id(), "stay", Payload.NONE);
        assertThat(status(run.id())).isEqualTo(RunStatus.SLEEPING);
        store().signal(run.id(), "go", json("1"));

        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
        assertThat(store().received(run.id(), "go")).isEqualTo(new Received(2, new Received.Signal(2, json("1"))));
        assertThat(claimOnly(run.id()).inbox()).isEqualTo(2);
    }

    @Test
    @Proves("EVENT-1")
    default void a_run_with_an_unseen_message_does_not_fall_asleep() {
        var run = running();
        store().signal(run.id(), "go", Payload.NONE);

        assertThat(parkAwaiting(run, Write.Awaits.signal("go"), 0).outcome()).isEqualTo(Ack.Outcome.STORED);

        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("EVENT-1")
    default void a_run_that_has_seen_all_messages_sleeps() {
        var run = running();
        store().signal(run.id(), "other", Payload.NONE);

        parkAwaiting(run, Write.Awaits.signal("go"), 1);

        assertThat(status(run.id())).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves({"EVENT-1", "SLEEP-1"})
    default void a_plain_sleep_is_not_ended_by_messages() {
        var run = running();
        store().signal(run.id(), "go", Payload.NONE);
        park(run, LATER);

        store().signal(run.id(), "go", Payload.NONE);

        assertThat(status(run.id())).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves("EVENT-1")
    default void signals_of_a_name_are_taken_in_order_and_once() {
        var run = running();
        store().signal(run.id(), "go", json("1"));
        store().signal(run.id(), "go", json("2"));
        var first = step("go", StepKind.EVENT, StepStatus.COMPLETED, null);

        assertThat(store().received(run.id(), "go").signal()).isEqualTo(new Received.Signal(1, json("1")));
        write(new Write.SaveStep(run.id(), run.epoch(), first, null, 1));

        assertThat(store().received(run.id(), "go").signal()).isEqualTo(new Received.Signal(2, json("2")));
    }

    @Test
    @Proves({"EVENT-1", "LEASE-3"})
    default void a_worker_that_lost_its_lease_takes_no_signal() {
        var run = running();
        store().signal(run.id(), "go", json("1"));
        var step = step("go", StepKind.EVENT, StepStatus.COMPLETED, null);

        var ack = write(new Write.SaveStep(run.id(), run.epoch() + 1, step, null, 1));

        assertThat(ack).isEqualTo(Ack.LEASE_LOST);
        assertThat(store().received(run.id(), "go").signal()).isEqualTo(new Received.Signal(1, json("1")));
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPLETED", "FAILED", "CANCELLED"})
    @Proves("EVENT-1")
    default void a_run_that_has_ended_takes_no_signal(RunStatus status) {
        var run = in(status);

        assertThatThrownBy(() -> store().signal(run, "go", Payload.NONE))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(status.name());
        assertThatThrownBy(() -> store().signal(new RunId(new UUID(1, 1)), "go", Payload.NONE))
                .isInstanceOf(NotFound.class);
    }

    @Test
    @Proves("EVENT-1")
    default void a_waiting_step_is_completed_once() {
        var run = running();
        var waiting = step("go", StepKind.EVENT, StepStatus.WAITING, null);
        var completed = step("go", StepKind.EVENT, StepStatus.COMPLETED, null);
        var failed = step("go", StepKind.EVENT, StepStatus.FAILED, null);

        for (var step : List.of(waiting, completed, failed)) {
            assertThat(write(new Write.SaveStep(run.id(), run.epoch(), step))).isEqualTo(Ack.STORED);
        }

        assertThat(store().steps(run.id())).extracting(StepInfo::status).containsExactly(StepStatus.COMPLETED);
    }

    @Test
    @Proves("CHILD-1")
    default void the_end_of_a_child_is_kept_with_its_parent_and_wakes_it() {
        var parent = running();
        var child = child(parent, true);
        parkAwaiting(parent, Write.Awaits.child("child"), 0);
        var claimed = claimOnly(child);
        assertThat(claimed.parent()).isEqualTo(new RunInfo.Parent(parent.id(), "child"));
        assertThat(claimed.depth()).isEqualTo(1);

        finishChild(claimed, RunStatus.COMPLETED, json("7"), null);

        assertThat(status(parent.id())).isEqualTo(RunStatus.PENDING);
        assertThat(childStep(parent.id()).status()).isEqualTo(StepStatus.COMPLETED);
        assertThat(childStep(parent.id()).output()).isEqualTo(json("7"));
        assertThat(childStep(parent.id()).childRun()).isEqualTo(child);
        var again = claimOnly(parent.id());
        assertThat(again.inbox()).isEqualTo(1);
        assertThat(again.steps()).extracting(StepRecord::childRun).containsExactly(child);
    }

    @Test
    @Proves({"CHILD-1", "STEP-4"})
    default void an_end_that_is_sent_twice_is_told_once() {
        var parent = running();
        var child = claimOnly(child(parent, true));

        finishChild(child, RunStatus.COMPLETED, json("7"), null);
        finishChild(child, RunStatus.COMPLETED, json("7"), null);

        assertThat(store().received(parent.id(), "any").inbox()).isEqualTo(1);
    }

    @Test
    @Proves({"CHILD-1", "RETRY-1"})
    default void the_first_end_of_a_child_counts() {
        var parent = running();
        var child = claimOnly(child(parent, true));
        finishChild(child, RunStatus.FAILED, Payload.NONE, ERROR);
        store().retry(child.id());

        finishChild(claimOnly(child.id()), RunStatus.COMPLETED, json("7"), null);

        assertThat(childStep(parent.id()).status()).isEqualTo(StepStatus.FAILED);
        assertThat(store().received(parent.id(), "any").inbox()).isEqualTo(1);
    }

    @Test
    @Proves({"CHILD-1", "LEASE-3"})
    default void the_end_of_a_child_by_a_worker_that_lost_it_is_not_told() {
        var parent = running();
        var child = claimOnly(child(parent, true));

        var ack = write(new Write.Finish(
                child.id(), child.epoch() - 1, RunStatus.COMPLETED, json("7"), null, null, child.parent(), false));

        assertThat(ack).isEqualTo(Ack.LEASE_LOST);
        assertThat(childStep(parent.id()).status()).isEqualTo(StepStatus.WAITING);
        assertThat(store().received(parent.id(), "any").inbox()).isZero();
    }

    @Test
    @Proves("CHILD-1")
    default void an_end_while_the_parent_executes_keeps_it_from_sleeping() {
        var parent = running();
        var child = claimOnly(child(parent, true));
        finishChild(child, RunStatus.FAILED, Payload.NONE, ERROR);

        parkAwaiting(parent, Write.Awaits.child("child"), parent.inbox());

        assertThat(status(parent.id())).isEqualTo(RunStatus.PENDING);
        assertThat(childStep(parent.id()).status()).isEqualTo(StepStatus.FAILED);
        assertThat(childStep(parent.id()).error()).isEqualTo(ERROR);
    }

    @Test
    @Proves("CHILD-1")
    default void a_child_of_an_unknown_workflow_is_refused_and_nothing_is_kept() {
        var parent = running();
        var child = childOf(parent, "unheard-of", true);
        var step = step("child", StepKind.CHILD, StepStatus.WAITING, child.id());

        assertThatThrownBy(() -> write(new Write.SaveStep(parent.id(), parent.epoch(), step, child, null)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("unheard-of");

        assertThat(store().steps(parent.id())).isEmpty();
        assertThat(store().find(child.id())).isNull();
    }

    @Test
    @Proves({"CHILD-1", "LEASE-3"})
    default void a_worker_that_lost_its_lease_starts_no_child() {
        var parent = running();
        register(Workflow.define(TYPE, Object.class, Object.class));
        var child = childOf(parent, TYPE, true);
        var step = step("child", StepKind.CHILD, StepStatus.WAITING, child.id());

        assertThat(write(new Write.SaveStep(parent.id(), parent.epoch() + 1, step, child, null)))
                .isEqualTo(Ack.LEASE_LOST);

        assertThat(store().find(child.id())).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILED", "CANCELLED"})
    @Proves("CHILD-1")
    default void a_parent_that_does_not_complete_ends_its_children(RunStatus status) {
        var parent = running();
        var child = child(parent, true);

        finishChild(parent, status, Payload.NONE, status == RunStatus.FAILED ? ERROR : null);

        assertThat(status(child)).isEqualTo(RunStatus.CANCELLED);
        assertThat(childStep(parent.id()).status()).isEqualTo(StepStatus.FAILED);
    }

    @Test
    @Proves("CHILD-1")
    default void an_abandoned_child_outlives_its_parent() {
        var parent = running();
        var child = child(parent, false);

        store().terminate(parent.id(), "enough");

        assertThat(status(child)).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    default void a_run_with_undo_steps_is_woken_when_it_is_cancelled() {
        var run = running();
        write(new Write.SaveStep(run.id(), run.epoch(), step("undo", StepKind.UNDO, StepStatus.WAITING, null)));
        assertThat(info(run.id()).compensates()).isTrue();
        park(run, LATER);

        store().cancel(run.id());

        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
        var claimed = claimOnly(run.id());
        assertThat(claimed.cancelRequested()).isTrue();
        assertThat(claimed.compensates()).isTrue();
    }

    @Test
    @Proves({"SAGA-1", "RUN-6"})
    default void a_run_with_undo_steps_is_woken_when_it_misses_its_deadline() {
        var run = running(aRun().deadlineAt(Instant.parse("2020-01-01T00:00:00Z")));
        write(new Write.SaveStep(run.id(), run.epoch(), step("undo", StepKind.UNDO, StepStatus.WAITING, null)));
        park(run, LATER);

        store().expireDeadlines(namespace(), (type, failed, failedType, input, error) -> {
            throw new AssertionError("no dead letter");
        });

        assertThat(status(run.id())).isEqualTo(RunStatus.PENDING);
    }
}
