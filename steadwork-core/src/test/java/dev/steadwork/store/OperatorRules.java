package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.attempt;
import static dev.steadwork.store.StoreRules.failedStep;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.Conflict;
import dev.steadwork.InvalidState;
import dev.steadwork.KeyPolicy;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What people ask of runs. */
interface OperatorRules extends StoreRules {

    static List<Named<BiConsumer<Store, RunId>>> commands() {
        return List.of(
                Named.of("cancel", Store::cancel),
                Named.of("terminate", (store, run) -> store.terminate(run, "test")),
                Named.of("pause", Store::pause),
                Named.of("resume", Store::resume),
                Named.of("retry", Store::retry),
                Named.of("fork", (store, run) -> store.fork(run, "charge", null)),
                Named.of("delete", (store, run) -> store.delete(run, "test")));
    }

    @ParameterizedTest
    @MethodSource("commands")
    @Proves("STORE-3")
    default void an_unknown_run_is_not_found(BiConsumer<Store, RunId> command) {
        var unknown = aRun().build().id();

        assertThatThrownBy(() -> command.accept(store(), unknown))
                .isInstanceOf(NotFound.class)
                .hasMessageContaining(unknown.toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "SLEEPING", "PAUSED"})
    @Proves({"CANCEL-1", "RUN-2"})
    default void a_waiting_run_is_cancelled_at_once(RunStatus status) {
        var hints = new Hints();
        var run = in(status);

        try (var subscription = store().signals().subscribe(hints)) {
            store().cancel(run);
            assertThat(hints.ended).contains(Signals.hash(run));
        }

        var info = info(run);
        assertThat(info.status()).isEqualTo(RunStatus.CANCELLED);
        assertThat(info.finishedAt()).isNotNull();
        assertThat(info.times().due()).isNull();
    }

    @Test
    @Proves("CANCEL-1")
    default void a_running_run_is_asked_to_cancel() {
        var hints = new Hints();
        var run = in(RunStatus.RUNNING);

        try (var subscription = store().signals().subscribe(hints)) {
            store().cancel(run);
            assertThat(hints.requested).contains(Signals.hash(run));
        }

        var asked = info(run).times().cancelRequested();
        assertThat(status(run)).isEqualTo(RunStatus.RUNNING);
        assertThat(asked).isNotNull();
        store().cancel(run);
        assertThat(info(run).times().cancelRequested()).as("asked again").isEqualTo(asked);
    }

    @Test
    @Proves("CANCEL-2")
    default void cancelling_a_cancelled_run_has_no_effect() {
        var run = in(RunStatus.CANCELLED);
        var before = info(run);

        store().cancel(run);

        assertThat(info(run)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPLETED", "FAILED"})
    @Proves("CANCEL-2")
    default void a_run_that_ended_cannot_be_cancelled(RunStatus status) {
        var run = in(status);

        assertThatThrownBy(() -> store().cancel(run))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(run.toString())
                .hasMessageContaining(status.name());
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "RUNNING", "SLEEPING", "PAUSED"})
    @Proves("CANCEL-1")
    default void terminate_ends_any_run_at_once(RunStatus status) {
        var run = in(status);
        var before = info(run);

        store().terminate(run, "no longer needed");

        var info = info(run);
        assertThat(info.status()).isEqualTo(RunStatus.CANCELLED);
        assertThat(info.error()).isEqualTo(new RunError(RunError.TERMINATED, "no longer needed", null, null));
        assertThat(info.lease())
                .isEqualTo(new RunInfo.Lease(null, before.lease().epoch() + 1, 0));
        assertThat(info.finishedAt()).isNotNull();
        assertThat(info.times().due()).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPLETED", "FAILED", "CANCELLED"})
    @Proves("CANCEL-2")
    default void a_run_that_ended_cannot_be_terminated_paused_or_resumed(RunStatus status) {
        var run = in(status);
        var before = info(run);

        assertThatThrownBy(() -> store().terminate(run, "test")).isInstanceOf(InvalidState.class);
        assertThatThrownBy(() -> store().pause(run)).isInstanceOf(InvalidState.class);
        assertThatThrownBy(() -> store().resume(run)).isInstanceOf(InvalidState.class);
        assertThat(info(run)).isEqualTo(before);
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    default void a_ready_run_is_paused_and_resumed() {
        var hints = new Hints();
        var run = in(RunStatus.PENDING);
        var due = info(run).times().due();

        store().pause(run);

        assertThat(status(run)).isEqualTo(RunStatus.PAUSED);
        assertThat(info(run).times().paused()).isNotNull();
        assertThat(info(run).times().due()).isEqualTo(due);
        try (var subscription = store().signals().subscribe(hints)) {
            store().resume(run);
            assertThat(hints.ready).contains(Signals.topic(namespace(), TYPE));
        }
        assertThat(status(run)).isEqualTo(RunStatus.PENDING);
        assertThat(info(run).times().paused()).isNull();
    }

    @Test
    @Proves({"EVENT-2", "RUN-2"})
    default void a_sleeping_run_goes_on_sleeping_when_it_is_resumed() {
        var run = in(RunStatus.SLEEPING);
        var due = info(run).times().due();

        store().pause(run);
        store().resume(run);

        assertThat(status(run)).isEqualTo(RunStatus.SLEEPING);
        assertThat(info(run).times().due()).isEqualTo(due);
    }

    @Test
    @Proves("EVENT-2")
    default void a_running_run_is_asked_to_pause_until_it_is_resumed() {
        var hints = new Hints();
        var run = in(RunStatus.RUNNING);

        try (var subscription = store().signals().subscribe(hints)) {
            store().pause(run);
            assertThat(hints.requested).contains(Signals.hash(run));
        }
        assertThat(status(run)).isEqualTo(RunStatus.RUNNING);
        assertThat(info(run).times().pauseRequested()).isNotNull();

        store().resume(run);
        assertThat(status(run)).isEqualTo(RunStatus.RUNNING);
        assertThat(info(run).times().pauseRequested()).isNull();
    }

    @Test
    @Proves("EVENT-2")
    default void pausing_twice_and_resuming_what_is_not_paused_have_no_effect() {
        var paused = in(RunStatus.PAUSED);
        var before = info(paused);
        store().pause(paused);
        assertThat(info(paused)).isEqualTo(before);

        for (var status : List.of(RunStatus.PENDING, RunStatus.SLEEPING)) {
            var run = in(status);
            var unchanged = info(run);
            store().resume(run);
            assertThat(info(run)).isEqualTo(unchanged);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILED", "CANCELLED"})
    @Proves({"RETRY-1", "RUN-2"})
    default void an_ended_run_is_retried_as_if_new(RunStatus status) {
        var hints = new Hints();
        var first = running(aRun().deadlineAt(Instant.parse("2020-01-01T00:00:00Z")));
        write(new Write.Park(
                first.id(), first.epoch(), Write.Wake.at(Instant.parse("2020-01-01T00:00:00Z")), null, null, 4, ERROR));
        promote();
        finish(claimOnly(first.id()), status);

        try (var subscription = store().signals().subscribe(hints)) {
            store().retry(first.id());
            assertThat(hints.ready).contains(Signals.topic(namespace(), TYPE));
        }

        var info = info(first.id());
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.error()).isNull();
        assertThat(info.finishedAt()).isNull();
        assertThat(info.times().deadline()).as("a deadline that has passed").isNull();
        assertThat(info.times().due()).isEqualTo(info.times().updated());
        assertThat(info.startedAt()).isEqualTo(first.startedAt());
        assertThat(claimOnly(first.id()).epoch()).isEqualTo(3);
    }

    @Test
    @Proves({"RETRY-1", "STEP-7"})
    default void a_retry_keeps_finished_steps_and_forgets_failed_ones() {
        var run = running();
        write(new Write.SaveAttempt(run.id(), run.epoch(), attempt("charge", 1, 1)));
        write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1")));
        write(new Write.SaveAttempt(run.id(), run.epoch(), attempt("ship", 2, 1)));
        write(new Write.SaveStep(run.id(), run.epoch(), failedStep("ship", 2)));
        write(new Write.SaveAttempt(run.id(), run.epoch(), attempt("mail", 3, 1)));
        finish(run, RunStatus.FAILED);

        store().retry(run.id());

        assertThat(store().steps(run.id())).singleElement().satisfies(step -> {
            assertThat(step.name()).isEqualTo("charge");
            assertThat(step.failedAttempts())
                    .extracting(StepInfo.FailedAttempt::number)
                    .containsExactly(1);
        });
        assertThat(claimOnly(run.id()).steps()).hasSize(1);
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    default void a_retry_keeps_a_failed_step_that_the_handler_went_on_from() {
        var run = running();
        save(run, failedStep("card", 1), step("invoice", 2, "1"), failedStep("ship", 3), failedStep("mail", 4));
        write(new Write.SaveAttempt(run.id(), run.epoch(), attempt("card", 1, 1)));
        fail(run, "ship");

        store().retry(run.id());

        assertThat(store().steps(run.id())).extracting(StepInfo::name).containsExactly("card", "invoice");
        assertThat(store().steps(run.id()).get(0).failedAttempts()).hasSize(1);
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    default void a_retry_forgets_the_step_that_failed_the_run_although_others_finished_beside_it() {
        var run = running();
        save(run, step("card", 1, "1"), failedStep("ship", 2), step("mail", 3, "1"), failedStep("log", 4));
        fail(run, "ship");

        store().retry(run.id());

        assertThat(store().steps(run.id())).extracting(StepInfo::name).containsExactly("card", "mail");
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    default void a_retry_of_a_run_that_no_step_failed_forgets_only_failed_steps_that_nothing_finished_after() {
        var run = running();
        save(run, failedStep("card", 1), step("invoice", 2, "1"), failedStep("ship", 3), failedStep("mail", 4));
        fail(run, null);

        store().retry(run.id());

        assertThat(store().steps(run.id())).extracting(StepInfo::name).containsExactly("card", "invoice");
    }

    @Test
    @Proves({"RETRY-1", "STEP-10"})
    default void a_retry_of_a_cancelled_run_takes_no_earlier_error_for_what_ended_it() {
        var run = running();
        save(run, failedStep("card", 1), step("invoice", 2, "1"));
        write(new Write.Park(
                run.id(), run.epoch(), Write.Wake.after(Duration.ofHours(1)), null, null, 1, errorOf("card")));
        store().cancel(run.id());
        assertThat(info(run.id()).error()).isEqualTo(errorOf("card"));

        store().retry(run.id());

        assertThat(store().steps(run.id())).extracting(StepInfo::name).containsExactly("card", "invoice");
    }

    private void save(ClaimedRun run, StepRecord... steps) {
        for (var step : steps) {
            write(new Write.SaveStep(run.id(), run.epoch(), step));
        }
    }

    private void fail(ClaimedRun run, String step) {
        write(new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, errorOf(step), null));
    }

    private static RunError errorOf(String step) {
        return new RunError(ERROR.type(), ERROR.message(), step, null);
    }

    @Test
    @Proves({"RETRY-1", "CANCEL-1"})
    default void a_retry_forgets_that_cancellation_was_asked_for() {
        var run = running();
        store().cancel(run.id());
        finish(run, RunStatus.CANCELLED);

        store().retry(run.id());

        assertThat(claimOnly(run.id()).cancelRequested()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "RUNNING", "SLEEPING", "PAUSED", "COMPLETED"})
    @Proves("RETRY-1")
    default void only_failed_and_cancelled_runs_are_retried(RunStatus status) {
        var run = in(status);
        var before = info(run);

        assertThatThrownBy(() -> store().retry(run))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(status.name());
        assertThat(info(run)).isEqualTo(before);
    }

    @Test
    @Proves({"RETRY-1", "DATA-4"})
    default void a_deleted_run_is_not_retried() {
        var run = in(RunStatus.FAILED);
        store().delete(run, "test");

        assertThatThrownBy(() -> store().retry(run))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining("deleted");
    }

    @Test
    @Proves("TRIG-3")
    default void a_retry_whose_key_was_taken_meanwhile_is_a_conflict() {
        var spec = aRun().key("order-1").keyPolicy(KeyPolicy.WHILE_ACTIVE);
        var first = ended(spec, RunStatus.FAILED);
        create(spec);

        assertThatThrownBy(() -> store().retry(first))
                .isInstanceOf(Conflict.class)
                .hasMessageContaining(first.toString())
                .hasMessageContaining("idempotency key");
        assertThat(status(first)).isEqualTo(RunStatus.FAILED);
    }

    @ParameterizedTest
    @EnumSource
    @Proves("DATA-4")
    default void a_run_in_any_status_can_be_deleted_once(RunStatus status) {
        var run = in(status);

        store().delete(run, "first reason");
        var deleted = info(run);
        store().delete(run, "second reason");

        assertThat(deleted.times().deleted()).isNotNull();
        assertThat(deleted.deletedReason()).isEqualTo("first reason");
        assertThat(deleted.status()).isEqualTo(status);
        assertThat(info(run)).isEqualTo(deleted);
    }

    @Test
    @Proves("DATA-4")
    default void a_deleted_run_that_is_running_may_finish() {
        var run = running();
        store().delete(run.id(), "test");

        assertThat(write(new Write.SaveStep(run.id(), run.epoch(), step("charge", 1, "1"))))
                .isEqualTo(Ack.STORED);
        assertThat(store().heartbeat(new Heartbeat(
                                namespace(),
                                WORKER,
                                List.of(new Heartbeat.Held(run.id(), run.epoch(), Duration.ofSeconds(9), null, null)),
                                1,
                                0,
                                0,
                                false))
                        .held())
                .containsKey(run.id());
        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
        assertThat(status(run.id())).isEqualTo(RunStatus.COMPLETED);
    }
}
