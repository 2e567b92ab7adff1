package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.steadwork.NamespaceInfo;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.store.Ack;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Definition;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.PromoteRequest;
import dev.steadwork.store.StepRecord;
import dev.steadwork.store.TriggerResult;
import dev.steadwork.store.Write;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs that ask for nothing special, created by the short statements, and begun by a worker with their creation. */
class PostgresPlainRunsTest extends PostgresFixture {
    private static final String QUEUE = "desk";
    private static final String REFUND = "refund";
    private static final RetryPolicy RETRY = RetryPolicy.defaults().withMaxAttempts(7);

    @BeforeEach
    void registerType() {
        var workflow =
                Workflow.define(TYPE, String.class, String.class).onQueue(QUEUE).retry(RETRY);
        var refund = Workflow.define(REFUND, String.class, String.class).onQueue("refunds");
        store.register(NAMESPACE, List.of(Definition.of(workflow), Definition.of(refund)));
    }

    @Test
    @Proves({"TRIG-1", "TRIG-2"})
    void a_plain_run_gets_what_its_type_was_registered_with() {
        var run = newRun(null, null);

        assertThat(trigger(run, null)).isEqualTo(new TriggerResult(TriggerResult.Outcome.CREATED, run.id(), null));

        var info = store.find(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.queue()).isEqualTo(QUEUE);
        assertThat(claim("one").get(0).retry()).isEqualTo(RETRY);
    }

    @Test
    @Proves({"CLAIM-5", "LEASE-3"})
    void a_run_begun_with_its_creation_is_held_as_after_a_claim() {
        var run = newRun(null, null);

        var started =
                trigger(run, new Write.Starter("one", Duration.ofMinutes(1))).started();

        assertThat(started).isNotNull();
        assertThat(started.run().epoch()).isEqualTo(1);
        assertThat(started.run().retry()).isEqualTo(RETRY);
        assertThat(started.run().startedAt()).isEqualTo(started.now());
        var info = store.find(run.id());
        assertThat(info.status()).isEqualTo(RunStatus.RUNNING);
        assertThat(info.lease().worker()).isEqualTo("one");
        assertThat(info.times().due()).isEqualTo(started.now().plus(Duration.ofMinutes(1)));
        assertThat(claim("two")).isEmpty();
        assertThat(write(new Write.Finish(run.id(), 1, RunStatus.COMPLETED, Payload.NONE, null, null))
                        .outcome())
                .isEqualTo(Ack.Outcome.STORED);
    }

    @Test
    @Proves({"TRIG-6", "TRIG-10"})
    void plain_runs_of_one_batch_keep_their_own_types_and_queues() {
        var runs = List.of(newRun(null, null), refund(), newRun("other", null), newRun(null, null));

        store.triggerAll(runs);

        assertThat(runs).extracting(run -> store.find(run.id()).type()).containsExactly(TYPE, REFUND, TYPE, TYPE);
        assertThat(runs)
                .extracting(run -> store.find(run.id()).queue())
                .containsExactly(QUEUE, "refunds", "other", QUEUE);
    }

    @Test
    @Proves({"LEASE-1", "CLAIM-5"})
    void runs_begun_together_have_their_own_workers_and_leases() {
        var first = newRun(null, null);
        var second = refund();

        var results = store.write(List.of(
                new Write.Trigger(first, new Write.Starter("one", Duration.ofMinutes(1))),
                new Write.Trigger(second, new Write.Starter("two", Duration.ofMinutes(9)))));

        var now = ((TriggerResult) results.get(0)).started().now();
        assertThat(store.find(first.id()).lease().worker()).isEqualTo("one");
        assertThat(store.find(second.id()).lease().worker()).isEqualTo("two");
        assertThat(store.find(first.id()).times().due()).isEqualTo(now.plus(Duration.ofMinutes(1)));
        assertThat(store.find(second.id()).times().due()).isEqualTo(now.plus(Duration.ofMinutes(9)));
    }

    @Test
    @Proves({"STEP-2", "STEP-6"})
    void steps_kept_together_have_their_own_occurrences_and_attempts() {
        var run = newRun(null, null);
        trigger(run, new Write.Starter("one", Duration.ofMinutes(1)));

        store.write(List.of(step(run, 1, 1, 3), step(run, 1, 2, 1)));

        assertThat(store.steps(run.id()))
                .extracting(StepInfo::name, StepInfo::attempt)
                .containsExactly(tuple("charge", 3), tuple("charge#2", 1));
    }

    @Test
    @Proves({"LEASE-3", "CLAIM-5"})
    void another_worker_takes_it_over_when_its_lease_has_run_out() {
        var run = newRun(null, null);
        trigger(run, new Write.Starter("one", Duration.ofMillis(1)));

        assertThat(store.promote(new PromoteRequest(NAMESPACE, List.of(QUEUE), Set.of(), 10))
                        .promoted())
                .isEqualTo(1);
        var taken = claim("two").get(0);

        assertThat(taken.epoch()).isEqualTo(3); // one more for the end of the lease, one for the claim
        assertThat(taken.lostLeases()).isEqualTo(1);
        assertThat(write(step(run, 1)).outcome()).isEqualTo(Ack.Outcome.LEASE_LOST);
    }

    @Test
    @Proves({"TRIG-2", "TRIG-6"})
    void plain_runs_whose_answer_was_lost_are_sent_again_and_exist_once() throws SQLException {
        var run = newRun(null, null);
        trigger(run, new Write.Starter("one", Duration.ofMinutes(1)));

        assertThat(trigger(run, new Write.Starter("one", Duration.ofMinutes(1))).accepted())
                .isTrue();
        assertThat(store.triggerAll(List.of(newRun(null, null), run)))
                .extracting(TriggerResult::outcome)
                .containsOnly(TriggerResult.Outcome.CREATED);

        assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(2);
    }

    @Test
    @Proves({"STEP-4", "STEP-5"})
    void a_step_whose_answer_was_lost_is_sent_again_and_kept_once() throws SQLException {
        var run = newRun(null, null);
        trigger(run, new Write.Starter("one", Duration.ofMinutes(1)));
        store.write(List.of(step(run, 1)));

        assertThat(store.write(List.of(step(run, 1), new Write.Trigger(newRun(null, null)))))
                .hasSize(2)
                .doesNotContainNull();

        assertThat(selectInt("SELECT count(*) FROM steadwork.step")).isEqualTo(1);
        assertThat(selectInt("SELECT count(*) FROM steadwork.run")).isEqualTo(2);
    }

    @Test
    @Proves({"STEP-4", "LEASE-3"})
    void of_plain_steps_of_which_one_is_refused_each_has_its_own_answer() {
        var held = newRun(null, null);
        var lost = newRun(null, null);
        trigger(held, new Write.Starter("one", Duration.ofMinutes(1)));
        trigger(lost, new Write.Starter("one", Duration.ofMinutes(1)));

        assertThat(store.write(List.of(step(held, 1), step(lost, 7)))).containsExactly(Ack.STORED, Ack.LEASE_LOST);

        assertThat(store.steps(held.id())).hasSize(1);
        assertThat(store.steps(lost.id())).isEmpty();
    }

    @Test
    @Proves("STEP-6")
    void the_times_of_a_plain_step_are_kept_to_the_microsecond() {
        var run = newRun(null, null);
        trigger(run, new Write.Starter("one", Duration.ofMinutes(1)));
        var started = Instant.parse("1999-12-31T23:59:59.999999Z");
        var finished = Instant.parse("2038-01-19T03:14:07.000001Z");

        write(step(run, 1, started, finished));

        assertThat(store.steps(run.id())).singleElement().satisfies(step -> {
            assertThat(step.startedAt()).isEqualTo(started);
            assertThat(step.finishedAt()).isEqualTo(finished);
        });
    }

    @Test
    @Proves("NS-1")
    void a_disabled_namespace_takes_no_plain_run_either() {
        trigger(newRun(null, null), null);
        store.createNamespace(NamespaceInfo.defaults(NAMESPACE));
        store.enableNamespace(NAMESPACE, false);

        assertThat(trigger(newRun(null, null), new Write.Starter("one", Duration.ofMinutes(1))))
                .extracting(TriggerResult::outcome, TriggerResult::started)
                .containsExactly(TriggerResult.Outcome.NAMESPACE_DISABLED, null);
        assertThat(store.triggerAll(List.of(newRun(null, null), newRun(null, null))))
                .extracting(TriggerResult::outcome)
                .containsOnly(TriggerResult.Outcome.NAMESPACE_DISABLED);
    }

    @Test
    @Proves("TRIG-1")
    void defaults_that_another_process_registers_are_heeded() {
        trigger(newRun(null, null), null);
        var changed = Workflow.define(TYPE, String.class, String.class).onQueue("other");
        store.register(NAMESPACE, List.of(Definition.of(changed)));

        var run = newRun(null, null);
        trigger(run, null);

        assertThat(store.find(run.id()).queue()).isEqualTo("other");
    }

    private static NewRun refund() {
        return newRun(REFUND, null, null, Payload.NONE);
    }

    private TriggerResult trigger(NewRun run, Write.Starter starter) {
        return (TriggerResult)
                store.write(List.of(new Write.Trigger(run, starter))).get(0);
    }

    private Ack write(Write.Fenced write) {
        return (Ack) store.write(List.of(write)).get(0);
    }

    private List<ClaimedRun> claim(String worker) {
        return store.claim(new ClaimRequest(
                        NAMESPACE, worker, List.of(QUEUE), List.of(TYPE), List.of(), List.of(), 10, LEASE))
                .runs();
    }

    private static Write.SaveStep step(NewRun run, long epoch) {
        var now = Instant.now();
        return step(run, epoch, now, now);
    }

    private static Write.SaveStep step(NewRun run, long epoch, Instant started, Instant finished) {
        return step(run, epoch, 1, 1, started, finished);
    }

    private static Write.SaveStep step(NewRun run, long epoch, int occurrence, int attempt) {
        var now = Instant.now();
        return step(run, epoch, occurrence, attempt, now, now);
    }

    private static Write.SaveStep step(
            NewRun run, long epoch, int occurrence, int attempt, Instant started, Instant finished) {
        var key = new StepRecord.Key("charge", occurrence, occurrence);
        return new Write.SaveStep(
                run.id(),
                epoch,
                new StepRecord(
                        key,
                        StepKind.FUNCTION,
                        StepStatus.COMPLETED,
                        attempt,
                        Payload.NONE,
                        Payload.NONE,
                        null,
                        started,
                        finished,
                        null));
    }
}
