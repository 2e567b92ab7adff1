package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.attempt;
import static dev.steadwork.store.StoreRules.failedStep;
import static dev.steadwork.store.StoreRules.json;
import static dev.steadwork.store.StoreRules.sleepStep;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidState;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.testing.Proves;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** New runs that go on from a step of another. */
interface ForkRules extends StoreRules {

    @Test
    @Proves("RETRY-1")
    default void a_fork_is_a_new_run_of_the_same_kind() {
        var hints = new Hints();
        var parent = create(aRun());
        var origin = running(aRun().queue("shared")
                .concurrencyKey("customer-42")
                .input(json("7"))
                .priority(3)
                .retry(RetryPolicy.none())
                .version("v2")
                .externalId("order-1")
                .tag("customer", "42")
                .parent(new RunInfo.Parent(parent, "spawn"))
                .key("key-1"));
        save(origin, step("charge", 1, "1"), step("ship", 2, "1"));

        RunId fork;
        try (var subscription = store().signals().subscribe(hints)) {
            fork = store().fork(origin.id(), "ship", null);
            assertThat(hints.ready).contains(Signals.topic(namespace(), "shared"));
        }

        assertThat(fork.slot()).isEqualTo(origin.id().slot());
        var info = info(fork);
        assertThat(info)
                .usingRecursiveComparison()
                .comparingOnlyFields(
                        "namespace", "type", "queue", "concurrencyKey", "priority", "retry", "version", "externalId")
                .isEqualTo(info(origin.id()));
        assertThat(info.status()).isEqualTo(RunStatus.PENDING);
        assertThat(info.tags())
                .isEqualTo(Map.of("customer", "42", "forked-from", origin.id().toString()));
        assertThat(info.idempotencyKey()).isNull();
        assertThat(info.parent()).isNull();
        assertThat(info.lease()).isEqualTo(new RunInfo.Lease(null, 1, 0));
        assertThat(info.startedAt()).isNull();
        assertThat(info.times().due())
                .isEqualTo(info.createdAt())
                .isEqualTo(info.times().updated());
        assertThat(store().input(fork)).isEqualTo(json("7"));
    }

    @Test
    @Proves("RETRY-1")
    default void a_fork_copies_the_outcomes_before_its_step_with_their_failed_attempts() {
        var origin = running();
        write(new Write.SaveAttempt(origin.id(), origin.epoch(), attempt("charge", 1, 1)));
        save(origin, step("charge", 1, "1"), failedStep("card", 2), sleepStep("nap", 3));
        write(new Write.SaveAttempt(origin.id(), origin.epoch(), attempt("mail", 4, 1)));
        write(new Write.SaveAttempt(origin.id(), origin.epoch(), attempt("ship", 5, 1)));
        save(origin, step("ship", 5, "1"), step("bill", 6, "1"));

        var fork = store().fork(origin.id(), "ship", null);

        var steps = store().steps(origin.id());
        assertThat(steps).hasSize(6);
        assertThat(store().steps(fork)).isEqualTo(steps.subList(0, 3));
        assertThat(store().steps(fork).get(0).failedAttempts()).hasSize(1);
        assertThat(claimOnly(fork).steps()).hasSize(3);
    }

    @Test
    @Proves("RETRY-1")
    default void a_fork_goes_on_from_a_step_that_is_still_tried_again() {
        var origin = running();
        save(origin, step("charge", 1, "1"));
        write(new Write.SaveAttempt(origin.id(), origin.epoch(), attempt("ship", 2, 1)));

        var fork = store().fork(origin.id(), "ship", null);

        assertThat(store().steps(fork)).extracting(StepInfo::name).containsExactly("charge");
    }

    @Test
    @Proves({"RETRY-1", "STEP-2"})
    default void a_repeated_step_is_named_by_its_number() {
        var origin = running();
        for (int i = 1; i <= 3; i++) {
            save(origin, repeated(i));
        }

        var fork = store().fork(origin.id(), "charge#2", null);

        assertThat(store().steps(fork)).extracting(StepInfo::name).containsExactly("charge");
    }

    private static StepRecord repeated(int occurrence) {
        var first = step("charge", occurrence, "1");
        return new StepRecord(
                new StepRecord.Key("charge", occurrence, occurrence),
                first.kind(),
                first.status(),
                1,
                Payload.NONE,
                first.output(),
                null,
                first.startedAt(),
                first.finishedAt(),
                null);
    }

    @Test
    @Proves({"RETRY-1", "DATA-1"})
    default void a_fork_may_have_another_input() {
        var origin = running(aRun().input(json("7")));
        save(origin, step("charge", 1, "1"));

        for (var input : List.of(json("8"), json("null"), Payload.NONE, new Payload(new byte[] {0}, Payload.BYTES))) {
            assertThat(store().input(store().fork(origin.id(), "charge", input)))
                    .isEqualTo(input);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Proves("RETRY-1")
    default void a_run_in_any_status_is_forked_and_stays_as_it_is(RunStatus status) throws Exception {
        var origin = in(status);
        recordStep(origin);
        var before = info(origin);

        var fork = store().fork(origin, "charge", null);

        assertThat(status(fork)).isEqualTo(RunStatus.PENDING);
        assertThat(info(fork).error()).isNull();
        assertThat(info(fork).finishedAt()).isNull();
        assertThat(info(origin)).isEqualTo(before);
    }

    private void recordStep(RunId run) throws Exception {
        var sql = """
                INSERT INTO %s (shard, run_id, name, occurrence, position, kind, status, attempt)
                VALUES (0, '%s', 'charge', 1, 1, 'FUNCTION', 'COMPLETED', 1)
                """;
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute(sql.formatted(table("step"), run));
            connection.commit();
        }
    }

    @Test
    @Proves({"RETRY-1", "RUN-6"})
    default void a_fork_keeps_a_deadline_that_is_still_to_come_and_no_other() {
        var late = running(aRun().deadlineAt(Instant.parse("2020-01-01T00:00:00Z")));
        save(late, step("charge", 1, "1"));
        assertThat(info(store().fork(late.id(), "charge", null)).times().deadline())
                .isNull();

        finish(late, RunStatus.FAILED);
        var deadline = Instant.parse("2999-01-01T00:00:00Z");
        var early = create(aRun().queue("other").deadlineAt(deadline));
        save(claimOnly(early), step("charge", 1, "1"));
        assertThat(info(store().fork(early, "charge", null)).times().deadline()).isEqualTo(deadline);
    }

    @Test
    @Proves({"RETRY-1", "STORE-3"})
    default void an_unknown_step_is_not_found_and_the_recorded_ones_are_named() {
        var origin = running();
        assertThatThrownBy(() -> store().fork(origin.id(), "charge", null))
                .isInstanceOf(NotFound.class)
                .hasMessageContaining(origin.id().toString())
                .hasMessageContaining("'charge'")
                .hasMessageContaining("none");
        IntStream.rangeClosed(1, 22).forEach(i -> save(origin, step("step-" + i, i, "1")));

        assertThatThrownBy(() -> store().fork(origin.id(), "charge", null))
                .isInstanceOf(NotFound.class)
                .hasMessageContaining(origin.id().toString())
                .hasMessageContaining("'charge'")
                .hasMessageContaining("step-1, step-2")
                .hasMessageContaining("step-20 and 2 more");
        assertThat(store().count(namespace(), QueryRules.ALL)).as("runs").isEqualTo(1);
    }

    @Test
    @Proves({"RETRY-1", "DATA-4"})
    default void a_deleted_run_is_not_forked() {
        var origin = running();
        save(origin, step("charge", 1, "1"));
        store().delete(origin.id(), "test");

        assertThatThrownBy(() -> store().fork(origin.id(), "charge", null))
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(origin.id().toString())
                .hasMessageContaining("deleted");
    }

    private void save(ClaimedRun run, StepRecord... steps) {
        for (var step : steps) {
            assertThat(write(new Write.SaveStep(run.id(), run.epoch(), step))).isEqualTo(Ack.STORED);
        }
    }
}
