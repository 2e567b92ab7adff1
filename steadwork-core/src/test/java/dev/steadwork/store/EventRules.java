package dev.steadwork.store;

import static dev.steadwork.EventKind.CANCELLED;
import static dev.steadwork.EventKind.CANCEL_REQUESTED;
import static dev.steadwork.EventKind.CREATED;
import static dev.steadwork.EventKind.DELETED;
import static dev.steadwork.EventKind.FAILED;
import static dev.steadwork.EventKind.FORKED;
import static dev.steadwork.EventKind.LEASED;
import static dev.steadwork.EventKind.LEASE_LOST;
import static dev.steadwork.EventKind.PAUSED;
import static dev.steadwork.EventKind.PAUSE_REQUESTED;
import static dev.steadwork.EventKind.RELEASED;
import static dev.steadwork.EventKind.RESUMED;
import static dev.steadwork.EventKind.RETRIED;
import static dev.steadwork.EventKind.SIGNALLED;
import static dev.steadwork.EventKind.SLEPT;
import static dev.steadwork.EventKind.STARTED;
import static dev.steadwork.EventKind.STEP_COMPLETED;
import static dev.steadwork.EventKind.STEP_FAILED;
import static dev.steadwork.EventKind.SUCCEEDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.EventKind;
import dev.steadwork.InvalidState;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.Payload;
import dev.steadwork.RunEvent;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is recorded of runs: all that took effect, nothing that did not, in the order in which it did. */
interface EventRules extends MessageRules {

    private void audit() {
        var defaults = NamespaceInfo.defaults(namespace());
        store().createNamespace(new NamespaceInfo(
                namespace(), null, null, null, defaults.retention(), true, Set.of(), null, null));
    }

    private List<EventKind> kinds(RunId run) {
        return store().events(run).stream().map(RunEvent::kind).toList();
    }

    private RunEvent last(RunId run) {
        var events = store().events(run);
        return events.get(events.size() - 1);
    }

    @Test
    @Proves("DATA-5")
    default void nothing_is_recorded_unless_the_namespace_wants_it() {
        var run = running();
        finish(run, RunStatus.COMPLETED);

        assertThat(store().events(run.id())).isEmpty();
    }

    @Test
    @Proves("DATA-5")
    default void the_life_of_a_run_is_recorded_in_order() {
        audit();
        var run = running();
        write(new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1")));
        write(new Write.SaveAttempt(run.id(), run.epoch(), StoreRules.attempt("ship", 2, 1)));
        write(new Write.SaveStep(run.id(), run.epoch(), StoreRules.failedStep("ship", 2)));
        finish(run, RunStatus.COMPLETED);

        var events = store().events(run.id());
        assertThat(events)
                .extracting(RunEvent::kind)
                .containsExactly(CREATED, LEASED, STARTED, STEP_COMPLETED, RETRIED, STEP_FAILED, SUCCEEDED);
        assertThat(events).extracting(RunEvent::number).isSorted().doesNotHaveDuplicates();
        assertThat(events).extracting(RunEvent::at).isSorted();
        assertThat(events).extracting(RunEvent::step).containsExactly(null, null, null, "charge", "ship", "ship", null);
        assertThat(events.subList(1, events.size()))
                .extracting(RunEvent::worker)
                .containsOnly(WORKER);
        assertThat(events.get(5).detail()).contains("no route to host");
        assertThat(events).extracting(RunEvent::actor).containsOnlyNulls();
    }

    @Test
    @Proves("DATA-5")
    default void a_batch_is_recorded_write_by_write() {
        audit();
        var run = running();

        store().write(List.of(
                new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("b", 2, "1")),
                new Write.SaveAttempt(run.id(), run.epoch(), StoreRules.attempt("c", 3, 1)),
                new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("a", 1, "1"))));

        assertThat(store().events(run.id()))
                .extracting(RunEvent::step)
                .containsExactly(null, null, null, "b", "c", "a");
    }

    @Test
    @Proves("DATA-5")
    default void what_is_written_again_is_recorded_once() {
        audit();
        var spec = aRun().build();
        trigger(spec);
        trigger(spec);
        var run = claimOnly(spec.id());
        var step = new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1"));
        var attempt = new Write.SaveAttempt(run.id(), run.epoch(), StoreRules.attempt("ship", 2, 1));
        for (int i = 0; i < 2; i++) {
            write(step);
            write(attempt);
        }
        finish(run, RunStatus.FAILED);
        finish(run, RunStatus.FAILED);

        assertThat(kinds(run.id())).containsExactly(CREATED, LEASED, STARTED, STEP_COMPLETED, RETRIED, FAILED);
        assertThat(last(run.id()).detail()).contains("no route to host");
    }

    @Test
    @Proves({"DATA-5", "LEASE-3"})
    default void what_a_worker_writes_without_the_lease_is_not_recorded() {
        audit();
        var run = running();
        var lost = new ClaimedRunAt(run.id(), run.epoch() - 1);

        write(new Write.SaveStep(lost.id, lost.epoch, StoreRules.step("charge", 1, "1")));
        write(new Write.Finish(lost.id, lost.epoch, RunStatus.COMPLETED, Payload.NONE, null, null));
        write(new Write.Release(lost.id, lost.epoch));

        assertThat(kinds(run.id())).containsExactly(CREATED, LEASED, STARTED);
    }

    /** A run as a worker sees it that has lost it. */
    record ClaimedRunAt(RunId id, long epoch) {}

    @Test
    @Proves("DATA-5")
    default void sleeps_retries_and_hand_backs_are_recorded() {
        audit();
        var run = running();
        park(run, Write.Wake.after(Duration.ZERO));
        promote();
        var again = claimOnly(run.id());
        write(new Write.Park(
                again.id(), again.epoch(), Write.Wake.after(Duration.ZERO), null, null, again.attempt() + 1, ERROR));
        promote();
        var third = claimOnly(run.id());
        write(new Write.Release(third.id(), third.epoch()));

        assertThat(kinds(run.id()))
                .containsExactly(CREATED, LEASED, STARTED, SLEPT, LEASED, RETRIED, SLEPT, LEASED, RELEASED);
    }

    @Test
    @Proves({"DATA-5", "LEASE-6"})
    default void a_lost_lease_is_recorded_with_the_worker_that_lost_it() {
        audit();
        create(aRun());
        var run = store().claim(new ClaimRequest(
                        namespace(),
                        "dead",
                        List.of(TYPE),
                        List.of(TYPE),
                        List.of(),
                        List.of(),
                        1,
                        Duration.ofNanos(1_000)))
                .runs()
                .get(0);

        assertThat(promote().promoted()).isEqualTo(1);

        assertThat(last(run.id()).kind()).isEqualTo(LEASE_LOST);
        assertThat(last(run.id()).worker()).isEqualTo("dead");
    }

    @Test
    @Proves("DATA-5")
    default void what_operators_do_is_recorded_with_who_and_why() {
        audit();
        var alice = store().by(new By("alice", "ticket 42"));
        var run = create(aRun());
        alice.pause(run);
        alice.resume(run);
        alice.signal(run, "go", StoreRules.json("1"));
        alice.cancel(run);
        alice.cancel(run);
        alice.retry(run);
        alice.terminate(run, "broken");
        alice.delete(run, "done");

        var events = store().events(run);
        assertThat(events)
                .extracting(RunEvent::kind)
                .containsExactly(CREATED, PAUSED, RESUMED, SIGNALLED, CANCELLED, RETRIED, CANCELLED, DELETED);
        assertThat(events.subList(1, 8)).extracting(RunEvent::actor).containsOnly("alice");
        assertThat(events.subList(1, 8)).extracting(RunEvent::reason).containsOnly("ticket 42");
        assertThat(events.get(3).detail()).isEqualTo("go");
        assertThat(events.get(6).detail()).isEqualTo("terminated: broken");
        assertThat(events.get(7).detail()).isEqualTo("done");
    }

    @Test
    @Proves("DATA-5")
    default void requests_to_a_running_run_are_recorded() {
        audit();
        var run = running();
        store().pause(run.id());
        store().resume(run.id());
        store().cancel(run.id());

        assertThat(kinds(run.id()).subList(3, 6)).containsExactly(PAUSE_REQUESTED, RESUMED, CANCEL_REQUESTED);
    }

    @Test
    @Proves("DATA-5")
    default void an_action_that_is_refused_is_not_recorded() {
        audit();
        var run = ended(aRun(), RunStatus.COMPLETED);
        int before = store().events(run).size();

        assertThatThrownBy(() -> store().cancel(run)).isInstanceOf(InvalidState.class);
        assertThatThrownBy(() -> store().retry(run)).isInstanceOf(InvalidState.class);
        assertThatThrownBy(() -> store().signal(run, "go", Payload.NONE)).isInstanceOf(InvalidState.class);

        assertThat(store().events(run)).hasSize(before);
    }

    @Test
    @Proves("DATA-5")
    default void a_fork_is_recorded_in_both_runs() {
        audit();
        var run = running();
        write(new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1")));

        var fork = store().by(new By("bob", null)).fork(run.id(), "charge", null);

        assertThat(last(run.id()).kind()).isEqualTo(FORKED);
        assertThat(last(run.id()).detail()).contains(fork.toString());
        assertThat(store().events(fork))
                .extracting(RunEvent::kind, RunEvent::actor)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(CREATED, "bob"));
    }

    @Test
    @Proves({"DATA-5", "RETRY-1"})
    default void bulk_actions_are_recorded_run_by_run() {
        audit();
        var first = create(aRun());
        var second = create(aRun());

        store().by(new By("carol", null)).cancelAll(List.of(first, second));

        assertThat(last(first).actor()).isEqualTo("carol");
        assertThat(kinds(second)).containsExactly(CREATED, CANCELLED);
    }

    @Test
    @Proves({"DATA-5", "TRIG-6"})
    default void runs_of_a_batch_and_of_a_callers_transaction_are_recorded_with_it() throws SQLException {
        audit();
        var batch = store().triggerAll(List.of(aRun().build(), aRun().build()));
        assertThat(batch).allSatisfy(one -> assertThat(kinds(one.id())).containsExactly(CREATED));

        var kept = aRun().build();
        var gone = aRun().build();
        try (var connection = connect()) {
            store().triggerIn(connection, List.of(kept));
            connection.commit();
            store().triggerIn(connection, List.of(gone));
            connection.rollback();
        }
        assertThat(kinds(kept.id())).containsExactly(CREATED);
        assertThat(store().events(gone.id())).isEmpty();
    }

    @Test
    @Proves({"DATA-5", "RUN-6"})
    default void a_missed_deadline_is_recorded() throws InterruptedException {
        audit();
        var run = create(aRun().startAfter(Duration.ofHours(1)).deadlineAfter(Duration.ofNanos(1_000)));

        org.awaitility.Awaitility.await()
                .until(() -> store().expireDeadlines(namespace(), (type, failed, failedType, input, error) -> {
                            throw new AssertionError("no dead letters");
                        })
                        > 0);

        assertThat(kinds(run)).containsExactly(CREATED, FAILED);
        assertThat(last(run).detail()).contains("deadline_exceeded");
    }

    @Test
    @Proves({"DATA-5", "CHILD-1"})
    default void what_the_end_of_a_parent_means_for_its_children_is_recorded() {
        audit();
        var parent = running();
        var child = claimOnly(child(parent, true));

        store().terminate(parent.id(), "broken");

        assertThat(kinds(child.id())).containsExactly(CREATED, LEASED, STARTED, CANCEL_REQUESTED);
        assertThat(last(child.id()).detail()).contains(parent.id().toString());
    }

    @Test
    @Proves("DATA-5")
    default void a_process_that_has_only_just_started_records_too() {
        audit();
        var run = create(aRun().startAfter(Duration.ofHours(1)).deadlineAfter(Duration.ofNanos(1_000)));

        try (var other = openAnother(STALE_AFTER)) {
            org.awaitility.Awaitility.await()
                    .until(() -> other.expireDeadlines(namespace(), (type, failed, failedType, input, error) -> {
                                throw new AssertionError("no dead letters");
                            })
                            > 0);
        }

        assertThat(kinds(run)).containsExactly(CREATED, FAILED);
    }
}
