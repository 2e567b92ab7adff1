package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.json;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidState;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunStatus;
import dev.steadwork.Unavailable;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Claims that are not committed before some of their runs have ended. For stores that can do that. */
interface OpenClaimRules extends StoreRules {

    default OpenClaim open(ClaimRequest request) {
        return store().openClaim(request).orElseThrow();
    }

    /** Of a run of the claim, as it completes. */
    default Write.Finish end(ClaimedRun run, String output) {
        return new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, json(output), null, null);
    }

    @Test
    @Proves({"CLAIM-5", "RUN-2"})
    default void runs_of_an_open_claim_look_untouched_and_nobody_else_gets_them() {
        var first = create(aRun());
        var second = create(aRun());
        try (var other = openAnother(STALE_AFTER);
                var claim = open(claimOf(TYPE, 1))) {
            assertThat(claim.claimed().runs()).extracting(ClaimedRun::id).containsExactly(first);
            assertThat(status(first)).isEqualTo(RunStatus.PENDING);
            assertThat(info(first).startedAt()).isNull();
            assertThat(other.claim(claimOf(TYPE, 10)).runs())
                    .extracting(ClaimedRun::id)
                    .containsExactly(second);
        }
    }

    @Test
    @Proves({"CLAIM-1", "LEASE-2", "LEASE-3", "RUN-2", "RUN-5"})
    default void a_claim_that_is_kept_ends_some_of_its_runs_and_leases_the_others() {
        var ended = create(aRun());
        var leased = create(aRun());

        var claim = open(claimOf(TYPE, 10));
        var runs = claim.claimed().runs();
        claim.keep(List.of(end(runs.get(0), "42")));

        assertThat(runs).extracting(ClaimedRun::epoch).containsExactly(1L, 1L);
        var end = info(ended);
        assertThat(end.status()).isEqualTo(RunStatus.COMPLETED);
        assertThat(end.startedAt()).isEqualTo(claim.claimed().now());
        assertThat(end.finishedAt()).isAfterOrEqualTo(end.startedAt());
        assertThat(end.times().updated()).isEqualTo(end.finishedAt());
        assertThat(end.times().due()).isNull();
        assertThat(store().ends(List.of(ended)))
                .containsExactly(new RunEnd(ended, RunStatus.COMPLETED, json("42"), null));
        var lease = info(leased);
        assertThat(lease.status()).isEqualTo(RunStatus.RUNNING);
        assertThat(lease.lease().epoch()).isEqualTo(1);
        assertThat(lease.lease().worker()).isEqualTo(WORKER);
        assertThat(lease.startedAt()).isEqualTo(claim.claimed().now());
        assertThat(lease.times().due())
                .isBetween(lease.startedAt().plus(LEASE), end.finishedAt().plus(LEASE.plusSeconds(9)));
        assertThat(finish(runs.get(1), RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
    }

    @Test
    @Proves("STEP-4")
    default void an_end_that_is_written_again_after_its_claim_was_kept_is_a_success() {
        create(aRun());
        var claim = open(claimOf(TYPE, 10));
        var end = end(claim.claimed().runs().get(0), "1");
        claim.keep(List.of(end));

        assertThat(write(end)).isEqualTo(Ack.STORED);
    }

    @Test
    @Proves({"LEASE-3", "STEP-4"})
    default void an_end_whose_claim_was_not_kept_is_refused() {
        var run = create(aRun());
        var claim = open(claimOf(TYPE, 10));
        claim.close();

        assertThat(write(end(claim.claimed().runs().get(0), "1"))).isEqualTo(Ack.LEASE_LOST);
        assertThat(status(run)).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("CLAIM-2")
    default void runs_of_a_claim_that_is_not_kept_are_free_at_once() {
        var runs = List.of(create(aRun()), create(aRun()), create(aRun()));
        try (var first = open(claimOf(TYPE, 2));
                var second = open(claimOf(TYPE, 2))) {
            assertThat(second.claimed().runs()).hasSize(1);
            first.close();

            assertThat(claim(claimOf(TYPE, 10))).isEqualTo(runs.subList(0, 2));
        }
        assertThat(claim(claimOf(TYPE, 10))).isEqualTo(runs.subList(2, 3));
    }

    @Test
    @Proves({"RUN-5", "STEP-1"})
    default void a_run_that_was_begun_before_is_claimed_in_the_usual_way_with_its_steps_and_its_first_start() {
        var first = running();
        write(new Write.SaveStep(first.id(), first.epoch(), step("charge", 1, "7")));
        write(new Write.Release(first.id(), first.epoch()));

        assertThat(store().openClaim(claimOf(TYPE, 10))).isEmpty();
        var again = store().claim(claimOf(TYPE, 10)).runs().get(0);
        write(end(again, "1"));

        assertThat(again.epoch()).isEqualTo(first.epoch() + 2);
        assertThat(again.steps()).extracting(one -> one.key().name()).containsExactly("charge");
        assertThat(info(first.id()).startedAt()).isEqualTo(first.startedAt());
        assertThat(status(first.id())).isEqualTo(RunStatus.COMPLETED);
    }

    @Test
    @Proves("CANCEL-1")
    default void a_cancellation_waits_until_the_claim_is_decided() throws Exception {
        var ends = create(aRun());
        var goesOn = create(aRun());
        var claim = open(claimOf(TYPE, 10));
        var threads = Executors.newFixedThreadPool(2);
        var tooLate = threads.submit(() -> store().cancel(ends));
        var inTime = threads.submit(() -> store().cancel(goesOn));
        await().until(() -> waitForLocks() == 2);

        claim.keep(List.of(end(claim.claimed().runs().get(0), "1")));

        assertThatThrownBy(tooLate::get).hasCauseInstanceOf(InvalidState.class);
        inTime.get();
        threads.shutdown();
        assertThat(status(ends)).isEqualTo(RunStatus.COMPLETED);
        assertThat(status(goesOn)).isEqualTo(RunStatus.RUNNING);
        assertThat(finish(claim.claimed().runs().get(1), RunStatus.COMPLETED).outcome())
                .isEqualTo(Ack.Outcome.CANCEL_REQUESTED);
    }

    private int waitForLocks() throws SQLException {
        try (var connection = connect();
                var rows = connection.createStatement().executeQuery("""
                        SELECT count(*)
                          FROM pg_stat_activity
                         WHERE datname = current_database()
                           AND wait_event_type = 'Lock'
                        """)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    @Test
    @Proves({"LEASE-6", "STORE-3"})
    default void runs_of_a_claim_whose_connection_is_lost_are_free_at_once() throws SQLException {
        var run = create(aRun());
        var claim = open(claimOf(TYPE, 10));
        var end = end(claim.claimed().runs().get(0), "1");

        endSessionsThatHoldRuns();

        assertThatThrownBy(() -> claim.keep(List.of(end))).isInstanceOf(Unavailable.class);
        assertThat(claim(claimOf(TYPE, 10))).containsExactly(run);
        assertThat(claim.keep(List.of(end))).isEmpty();
        assertThat(status(run)).isEqualTo(RunStatus.RUNNING);
    }

    @Test
    @Proves({"STEP-5", "LEASE-3"})
    default void a_claim_that_was_lost_is_kept_later_for_runs_that_nobody_has_taken() throws SQLException {
        var ends = create(aRun());
        var goesOn = create(aRun());
        var deleted = create(aRun());
        var taken = create(aRun());
        var claim = open(claimOf(TYPE, 10));
        var runs = claim.claimed().runs();
        var ended = List.of(end(runs.get(0), "1"), end(runs.get(2), "1"));
        endSessionsThatHoldRuns();
        assertThatThrownBy(() -> claim.keep(ended)).isInstanceOf(Unavailable.class);
        store().delete(deleted, "not needed");
        store().cancel(taken);

        assertThat(claim.keep(ended)).containsExactlyInAnyOrder(ends, goesOn);

        assertThat(status(ends)).isEqualTo(RunStatus.COMPLETED);
        assertThat(status(goesOn)).isEqualTo(RunStatus.RUNNING);
        assertThat(status(taken)).isEqualTo(RunStatus.CANCELLED);
        assertThat(status(deleted)).isEqualTo(RunStatus.PENDING);
        assertThat(finish(runs.get(1), RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
    }

    private void endSessionsThatHoldRuns() throws SQLException {
        try (var connection = connect()) {
            connection.createStatement().execute("""
                    SELECT pg_terminate_backend(pid, 10000)
                      FROM pg_stat_activity
                     WHERE datname = current_database()
                       AND pid <> pg_backend_pid()
                       AND state = 'idle in transaction'
                    """);
        }
    }

    @Test
    @Proves({"LEASE-1", "LEASE-6"})
    default void a_worker_that_is_stopped_keeps_an_open_claim_no_longer_than_its_lease() {
        var run = create(aRun());
        var lease = Duration.ofMillis(300);
        var claim = open(
                new ClaimRequest(namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of(), 10, lease));

        await().untilAsserted(() -> assertThat(claim(claimOf(TYPE, 10))).containsExactly(run));

        assertThatThrownBy(() -> claim.keep(List.of())).isInstanceOf(Unavailable.class);
        assertThat(claim.keep(List.of())).isEmpty();
    }

    @Test
    @Proves("WORKER-3")
    default void runs_that_go_on_count_for_a_limit_that_was_set_meanwhile() {
        create(aRun());
        create(aRun());
        create(aRun());
        try (var claim = open(claimOf(TYPE, 1))) {
            store().limit(namespace(), TYPE, QueueLimit.concurrency(2));
            claim.keep(List.of());
        }

        assertThat(store().claimLimited(claimOf(TYPE, 10)).orElseThrow().runs()).hasSize(1);
    }

    @Test
    @Proves("LEASE-6")
    default void a_run_that_may_have_killed_a_worker_is_claimed_before_it_begins() {
        create(aRun());
        store().claim(new ClaimRequest(
                namespace(), WORKER, List.of(TYPE), List.of(TYPE), List.of(), List.of(), 10, Duration.ofMillis(1)));
        await().until(() -> promote().promoted() == 1);

        assertThat(store().openClaim(claimOf(TYPE, 10))).isEmpty();
        assertThat(store().claim(claimOf(TYPE, 10)).runs())
                .extracting(ClaimedRun::lostLeases)
                .containsExactly(1);
    }

    @Test
    @Proves("DATA-5")
    default void a_namespace_that_records_events_has_no_open_claims() {
        var defaults = NamespaceInfo.defaults(namespace());
        store().createNamespace(new NamespaceInfo(
                namespace(), null, null, null, defaults.retention(), true, Set.of(), null, null));
        create(aRun());

        assertThat(store().openClaim(claimOf(TYPE, 10))).isEmpty();
    }

    @Test
    default void an_open_claim_that_finds_nothing_is_in_nobodys_way() {
        try (var claim = open(claimOf(TYPE, 10))) {
            assertThat(claim.claimed().runs()).isEmpty();

            var later = create(aRun());
            assertThat(claim(claimOf(TYPE, 10))).containsExactly(later);
        }
    }
}
