package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.TriggerCheck.ACCEPT;
import static dev.steadwork.TriggerCheck.REQUIRE_ONLINE;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NamespaceTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("shop.pay", String.class, String.class);

    private Steadwork acme;
    private Steadwork globex;

    @BeforeEach
    void openNamespaces() {
        acme = open(settings -> settings.namespace("acme"));
        globex = open(settings -> settings.namespace("globex"));
    }

    @Test
    @Proves({"CLAIM-4", "RUN-1"})
    void workers_claim_only_runs_of_their_namespace() {
        acme.register(PAY);
        var theirs = acme.workflow(PAY).priority(9).trigger("x");
        globex.worker().handle(PAY, (ctx, input) -> "by globex").start();

        assertThat(globex.workflow(PAY).trigger("x").await(PATIENCE)).isEqualTo("by globex");
        assertThat(theirs.status()).isEqualTo(PENDING);
        assertThat(theirs.info().namespace()).isEqualTo("acme");

        acme.worker().handle(PAY, (ctx, input) -> "by acme").start();
        assertThat(theirs.await(PATIENCE)).isEqualTo("by acme");
    }

    @Test
    @Proves("CLAIM-4")
    void a_worker_that_claims_by_prefix_stays_in_its_namespace() {
        acme.register(PAY);
        var theirs = acme.workflow(PAY).trigger("x");
        globex.worker()
                .typePrefix("shop.")
                .handle(PAY, (ctx, input) -> "by globex")
                .start();

        assertThat(globex.workflow(PAY).trigger("x").await(PATIENCE)).isEqualTo("by globex");
        assertThat(theirs.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-3")
    void the_same_key_in_two_namespaces_is_two_runs() {
        var one = acme.workflow(PAY).check(ACCEPT).idempotencyKey("order-1").trigger("x");
        var other = globex.workflow(PAY).check(ACCEPT).idempotencyKey("order-1").trigger("x");

        assertThat(other.alreadyExisted()).isFalse();
        assertThat(other.id()).isNotEqualTo(one.id());
    }

    @Test
    @Proves("TRIG-4")
    void a_type_registered_in_one_namespace_is_unknown_in_another() {
        acme.register(PAY);

        assertRefused(PRECONDITION_FAILED, () -> globex.workflow(PAY).trigger("x"), "shop.pay", "namespace globex");
    }

    @Test
    @Proves("TRIG-4")
    void a_worker_online_in_one_namespace_is_not_online_in_another() {
        acme.worker().handle(PAY, (ctx, input) -> input).start();
        globex.register(PAY);

        assertRefused(
                PRECONDITION_FAILED,
                () -> globex.workflow(PAY).check(REQUIRE_ONLINE).trigger("x"),
                "No worker",
                "globex");
    }

    @Test
    @Proves("DATA-3")
    void lists_and_counts_show_only_the_own_namespace() {
        var one = acme.workflow(PAY).check(ACCEPT).externalId("e").trigger("x");
        var other = globex.workflow(PAY).check(ACCEPT).externalId("e").trigger("x");

        assertThat(acme.runs().page(10).items()).extracting(RunInfo::id).containsExactly(one.id());
        assertThat(globex.runs().externalId("e").page(10).items())
                .extracting(RunInfo::id)
                .containsExactly(other.id());
        assertThat(acme.runs().count()).isEqualTo(1);
        assertThat(steadwork.runs().count()).isZero();
    }
}
