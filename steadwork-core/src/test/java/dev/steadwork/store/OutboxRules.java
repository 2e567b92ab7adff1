package dev.steadwork.store;

import static dev.steadwork.EventKind.CREATED;
import static dev.steadwork.EventKind.STARTED;
import static dev.steadwork.EventKind.SUCCEEDED;
import static dev.steadwork.store.Outgoing.Outcome.DEAD;
import static dev.steadwork.store.Outgoing.Outcome.DEFERRED;
import static dev.steadwork.store.Outgoing.Outcome.FAILED;
import static dev.steadwork.store.Outgoing.Outcome.PUBLISHED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.EventKind;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Events on their way out: with the change, one after the other for each run, to one sender at a time. */
interface OutboxRules extends StoreRules {

    private void publish(Set<EventKind> kinds) {
        var defaults = NamespaceInfo.defaults(namespace());
        store().createNamespace(new NamespaceInfo(
                namespace(), null, null, null, defaults.retention(), false, kinds, null, null));
    }

    private void publish() {
        publish(EventKind.milestones());
    }

    private List<Outgoing> take(String sender, Duration lease) {
        return store().claimOutbox(namespace(), sender, 100, lease).events();
    }

    private List<Outgoing> take(String sender) {
        return take(sender, LEASE);
    }

    private void settle(String sender, Outgoing event, Outgoing.Outcome outcome, Duration delay) {
        store().settleOutbox(
                        namespace(),
                        sender,
                        List.of(new Outgoing.Settled(event, outcome, delay, outcome == PUBLISHED ? null : "no")));
    }

    private List<EventKind> sendAll() {
        var kinds = new ArrayList<EventKind>();
        for (var batch = take("s"); !batch.isEmpty(); batch = take("s")) {
            for (var event : batch) {
                kinds.add(event.event().kind());
                settle("s", event, PUBLISHED, Duration.ZERO);
            }
        }
        return kinds;
    }

    @Test
    @Proves("DATA-6")
    default void nothing_goes_out_unless_the_namespace_wants_it() {
        ended(aRun(), RunStatus.COMPLETED);

        assertThat(take("s")).isEmpty();
        assertThat(store().outboxStats(namespace()).waiting()).isZero();
    }

    @Test
    @Proves("DATA-6")
    default void the_milestones_of_a_run_go_out_one_after_the_other() {
        publish();
        var run = ended(aRun(), RunStatus.COMPLETED);

        var first = take("s");
        assertThat(first).hasSize(1);
        var event = first.get(0).event();
        assertThat(event.kind()).isEqualTo(CREATED);
        assertThat(event.run()).isEqualTo(run);
        assertThat(event.workflow()).isEqualTo(TYPE);
        assertThat(event.namespace()).isEqualTo(namespace());
        assertThat(take("s")).isEmpty();
        assertThat(store().outboxStats(namespace()).waiting()).isEqualTo(3);
        assertThat(store().outboxStats(namespace()).oldestWaiting()).isEqualTo(event.at());

        settle("s", first.get(0), PUBLISHED, Duration.ZERO);
        assertThat(sendAll()).containsExactly(STARTED, SUCCEEDED);
        assertThat(store().outboxStats(namespace()).waiting()).isZero();
        assertThat(store().events(run)).isEmpty();
    }

    @Test
    @Proves("DATA-6")
    default void only_the_kinds_that_were_chosen_go_out() {
        publish(Set.of(EventKind.STEP_COMPLETED, EventKind.RETRIED));
        var run = running();
        var step = new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1"));
        var attempt = new Write.SaveAttempt(run.id(), run.epoch(), StoreRules.attempt("ship", 2, 1));
        write(step);
        write(step);
        write(attempt);
        write(attempt);
        finish(run, RunStatus.COMPLETED);

        assertThat(sendAll()).containsExactly(EventKind.STEP_COMPLETED, EventKind.RETRIED);
    }

    @Test
    @Proves("DATA-6")
    default void events_go_out_if_and_only_if_the_change_commits() throws SQLException {
        publish();
        var kept = aRun().build();
        try (var connection = connect()) {
            store().triggerIn(connection, List.of(kept));
            connection.commit();
            store().triggerIn(connection, List.of(aRun().build()));
            connection.rollback();
        }
        assertThat(take("s")).extracting(one -> one.event().run()).containsExactly(kept.id());
    }

    @Test
    @Proves("DATA-6")
    default void an_event_is_with_one_sender_until_its_lease_ends() {
        publish();
        create(aRun());

        assertThat(take("dead", Duration.ofNanos(1_000))).hasSize(1);
        var again = take("living");
        assertThat(again).hasSize(1);
        assertThat(take("other")).isEmpty();

        settle("dead", again.get(0), DEAD, Duration.ZERO);
        assertThat(store().outboxStats(namespace()).dead()).isZero();
        settle("living", again.get(0), PUBLISHED, Duration.ZERO);
        assertThat(store().outboxStats(namespace()).waiting()).isZero();
    }

    @Test
    @Proves("DATA-6")
    default void what_failed_waits_and_holds_back_what_follows_it_but_no_other_run() {
        publish();
        var run = ended(aRun(), RunStatus.COMPLETED);
        var failed = take("s").get(0);
        settle("s", failed, FAILED, Duration.ofHours(1));
        var other = create(aRun());

        var batch = store().claimOutbox(namespace(), "s", 100, LEASE);
        assertThat(batch.events()).extracting(one -> one.event().run()).containsExactly(other);
        settle("s", batch.events().get(0), PUBLISHED, Duration.ZERO);

        var later = store().claimOutbox(namespace(), "s", 100, LEASE);
        assertThat(later.events()).isEmpty();
        assertThat(later.untilNext()).isBetween(Duration.ofMinutes(55), Duration.ofHours(1));
        assertThat(run).isEqualTo(failed.event().run());
    }

    @Test
    @Proves("DATA-6")
    default void failures_are_counted_and_what_was_not_tried_is_not() {
        publish();
        create(aRun());
        for (int i = 0; i < 3; i++) {
            settle("s", take("s").get(0), FAILED, Duration.ZERO);
        }
        settle("s", take("s").get(0), DEFERRED, Duration.ZERO);

        assertThat(take("s")).extracting(Outgoing::failures).containsExactly(3);
    }

    @Test
    @Proves("DATA-6")
    default void a_dead_event_lets_the_others_pass_and_can_be_published_after_all() {
        publish();
        var run = ended(aRun(), RunStatus.COMPLETED);
        var poison = take("s").get(0);
        settle("s", poison, DEAD, Duration.ZERO);

        assertThat(sendAll()).containsExactly(STARTED, SUCCEEDED);
        var dead = store().deadEvents(namespace(), 10);
        assertThat(dead).hasSize(1);
        assertThat(dead.get(0).event()).isEqualTo(poison.event());
        assertThat(dead.get(0).failures()).isEqualTo(1);
        assertThat(dead.get(0).error()).isEqualTo("no");

        assertThat(store().redrive(namespace(), poison.event().number() + 1000)).isZero();
        assertThat(store().redrive(namespace(), poison.event().number())).isEqualTo(1);
        assertThat(take("s"))
                .extracting(one -> one.event().run(), Outgoing::failures)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(run, 0));
        assertThat(store().outboxStats(namespace()).dead()).isZero();
    }

    @Test
    @Proves("DATA-6")
    default void an_event_that_is_published_after_all_waits_for_one_of_its_run_that_is_being_sent() {
        publish();
        ended(aRun(), RunStatus.COMPLETED);
        settle("s", take("s").get(0), DEAD, Duration.ZERO);
        assertThat(take("s")).hasSize(1);
        assertThat(store().redrive(namespace(), null)).isEqualTo(1);

        var meanwhile = store().claimOutbox(namespace(), "other", 100, LEASE);
        assertThat(meanwhile.events()).isEmpty();
    }

    @Test
    @Proves("DATA-6")
    default void a_batch_has_one_event_of_each_run_and_senders_share_the_work() {
        publish();
        var runs = new ArrayList<RunId>();
        for (int i = 0; i < 5; i++) {
            runs.add(ended(aRun(), RunStatus.COMPLETED));
        }

        var one = store().claimOutbox(namespace(), "one", 2, LEASE).events();
        var other = store().claimOutbox(namespace(), "other", 100, LEASE).events();

        assertThat(one).hasSize(2);
        assertThat(other).hasSize(3);
        var all = new ArrayList<>(one);
        all.addAll(other);
        assertThat(all).extracting(out -> out.event().run()).containsExactlyInAnyOrderElementsOf(runs);
    }

    @Test
    @Proves("DATA-6")
    default void published_events_are_removed_after_a_while_and_no_others() {
        publish();
        ended(aRun(), RunStatus.COMPLETED);
        settle("s", take("s").get(0), PUBLISHED, Duration.ZERO);
        settle("s", take("s").get(0), DEAD, Duration.ZERO);

        assertThat(store().deletePublished(namespace(), Duration.ofDays(7), 100))
                .isZero();
        assertThat(store().deletePublished(namespace(), Duration.ofSeconds(-60), 100))
                .isEqualTo(1);
        assertThat(store().outboxStats(namespace()).dead()).isEqualTo(1);
        assertThat(sendAll()).containsExactly(SUCCEEDED);
    }
}
