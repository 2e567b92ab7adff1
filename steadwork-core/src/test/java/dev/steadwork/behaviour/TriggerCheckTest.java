package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.TriggerCheck.ACCEPT;
import static dev.steadwork.TriggerCheck.REQUIRE_ONLINE;
import static dev.steadwork.TriggerCheck.REQUIRE_REGISTERED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import dev.steadwork.PreconditionFailed;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TriggerCheckTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);

    @Test
    @Proves("TRIG-4")
    void an_unknown_type_is_refused_at_once() {
        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow(GREET).trigger("Ada"),
                "greet",
                "not registered",
                "steadwork.register(...)",
                "TriggerCheck.ACCEPT");
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-4")
    void an_unknown_name_is_refused_at_once() {
        assertRefused(PRECONDITION_FAILED, () -> steadwork.workflow("gret").trigger("Ada"), "gret", "not registered");
    }

    @Test
    @Proves({"TRIG-4", "TRIG-5"})
    void a_registered_type_is_accepted_without_a_worker() {
        steadwork.register(GREET);

        assertThat(steadwork.workflow(GREET).trigger("Ada").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-5")
    void a_worker_registers_what_it_handles_for_good() {
        work(GREET, (ctx, name) -> name).close();

        assertThat(steadwork.workflow(GREET).trigger("Ada").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-5")
    void a_type_registered_by_one_process_is_known_to_all() {
        var other = open(settings -> settings);

        steadwork.register(GREET);

        assertThat(other.workflow("greet").trigger("Ada").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-5")
    void registering_again_changes_the_defaults_and_nothing_else() {
        steadwork.register(GREET);
        var before = steadwork.workflow("greet").trigger("Ada");

        steadwork.register(GREET.onQueue("lobby"));
        steadwork.register(GREET.onQueue("lobby"));

        assertThat(steadwork.workflow("greet").trigger("Ada").info().queue()).isEqualTo("lobby");
        assertThat(before.info().queue()).isEqualTo("greet");
    }

    @Test
    @Proves("TRIG-5")
    void many_processes_may_register_the_same_types_at_once() {
        var other = Workflow.define("other", String.class, String.class);

        assertThatCode(() -> AtOnce.call(10, i -> {
                    if (i % 2 == 0) {
                        steadwork.register(GREET, other);
                    } else {
                        steadwork.register(other, GREET);
                    }
                    return i;
                }))
                .doesNotThrowAnyException();
    }

    @Test
    @Proves("TRIG-4")
    void an_online_worker_can_be_demanded() {
        steadwork.register(GREET);

        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow(GREET).check(REQUIRE_ONLINE).trigger("Ada"),
                "No worker",
                "greet",
                "online",
                "REQUIRE_REGISTERED");
        assertThat(steadwork.runs().count()).isZero();

        work(GREET, (ctx, name) -> "Hello " + name);
        var run = steadwork.workflow(GREET).check(REQUIRE_ONLINE).trigger("Ada");
        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("TRIG-4")
    void a_worker_of_another_type_does_not_count_as_online() {
        steadwork.register(GREET);
        work(Workflow.define("other", String.class, String.class), (ctx, name) -> name);

        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow(GREET).check(REQUIRE_ONLINE).trigger("Ada"));
    }

    @Test
    @Proves("TRIG-4")
    void a_worker_that_claims_by_prefix_counts_as_online_for_what_it_handles() {
        var invoice = Workflow.define("billing.invoice", String.class, String.class);
        steadwork
                .worker()
                .typePrefix("billing.")
                .handle(invoice, (ctx, name) -> name)
                .start();

        var run = steadwork.workflow(invoice).check(REQUIRE_ONLINE).trigger("Ada");

        assertThat(run.await(PATIENCE)).isEqualTo("Ada");
    }

    @Test
    @Proves("TRIG-4")
    void a_closed_worker_no_longer_counts_as_online() {
        work(GREET, (ctx, name) -> name).close();

        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow(GREET).check(REQUIRE_ONLINE).trigger("Ada"));
    }

    @Test
    @Proves("TRIG-4")
    void a_worker_that_has_fallen_silent_no_longer_counts_as_online() {
        var silent = open(settings -> settings.lease(Duration.ofHours(2)).heartbeat(Duration.ofHours(1)));
        silent.worker().handle(GREET, (ctx, name) -> name).start();
        var strict = open(settings -> settings.staleAfter(Duration.ofMillis(300)));
        var trigger = strict.workflow(GREET).check(REQUIRE_ONLINE);

        await().atMost(PATIENCE).untilAsserted(() -> assertRefused(PRECONDITION_FAILED, () -> trigger.trigger("Ada")));
    }

    @Test
    @Proves("TRIG-4")
    void an_unknown_type_can_be_queued_for_a_worker_to_come() {
        var run = steadwork.workflow(GREET).check(ACCEPT).trigger("Ada");

        assertThat(run.status()).isEqualTo(PENDING);
        work(GREET, (ctx, name) -> "Hello " + name);
        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("TRIG-4")
    void a_run_accepted_by_name_alone_waits_in_the_queue_of_that_name() {
        var run = steadwork.workflow("greet").check(ACCEPT).trigger("Ada");

        assertThat(run.info().queue()).isEqualTo("greet");
        work(GREET, (ctx, name) -> "Hello " + name);
        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("TRIG-4")
    void the_check_of_the_definition_is_used_unless_the_trigger_says_otherwise() {
        var lenient = steadwork.workflow(GREET.check(ACCEPT));

        assertThat(lenient.trigger("Ada").status()).isEqualTo(PENDING);
        assertRefused(
                PRECONDITION_FAILED, () -> lenient.check(REQUIRE_REGISTERED).trigger("Ada"), "not registered");
    }

    @Test
    @Proves({"TRIG-4", "TRIG-2"})
    void a_refused_trigger_does_not_take_its_key() {
        var keyed = steadwork.workflow(GREET).idempotencyKey("order-1");
        assertThatCode(() -> keyed.trigger("Ada")).isInstanceOf(PreconditionFailed.class);

        steadwork.register(GREET);

        assertThat(keyed.trigger("Ada").alreadyExisted()).isFalse();
    }
}
