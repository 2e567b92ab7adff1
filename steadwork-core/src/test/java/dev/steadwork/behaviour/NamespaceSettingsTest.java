package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.ErrorCode.PAYLOAD_TOO_LARGE;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.EventKind;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.RetryPolicy;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class NamespaceSettingsTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final Workflow<String, String> PART = Workflow.define("part", String.class, String.class);

    @Test
    @Proves("NS-1")
    void a_namespace_is_created_described_listed_and_changed() {
        var acme = steadwork
                .namespaces()
                .create(
                        "acme",
                        n -> n.audit(true).keepCompleted(Duration.ofDays(30)).outbox(EventKind.FAILED));
        steadwork.namespaces().create("aaa", n -> {});

        var changed = steadwork
                .namespaces()
                .update("acme", n -> n.keepFailed(Duration.ofDays(90)).outbox(true));

        assertThat(acme.outbox()).containsExactly(EventKind.FAILED);
        assertThat(steadwork.namespaces().describe("acme")).isEqualTo(changed);
        assertThat(changed.audit()).isTrue();
        assertThat(changed.retention())
                .isEqualTo(new NamespaceInfo.Retention(Duration.ofDays(30), Duration.ofDays(90), null, null));
        assertThat(changed.outbox()).isEqualTo(EventKind.milestones());
        assertThat(steadwork.namespaces().list())
                .extracting(NamespaceInfo::name)
                .containsExactly("aaa", "acme");
        assertThat(steadwork.namespaces().describe("other")).isEqualTo(NamespaceInfo.defaults("other"));
    }

    @Test
    @Proves("NS-1")
    void bad_settings_are_refused_and_nothing_is_created() {
        var namespaces = steadwork.namespaces();

        assertRefused(INVALID_ARGUMENT, () -> namespaces.create("", n -> {}), "namespace");
        assertRefused(
                INVALID_ARGUMENT,
                () -> namespaces.create("acme", n -> n.keepFailed(Duration.ofDays(-1))),
                "keepFailed",
                "negative");
        assertRefused(
                INVALID_ARGUMENT,
                () -> namespaces.create("acme", n -> n.payloadLimits(20, 10)),
                "payloadLimits(20, 10)");
        assertRefused(NOT_FOUND, () -> namespaces.update("acme", n -> n.audit(true)), "acme", "create");
        assertRefused(NOT_FOUND, () -> namespaces.disable("acme"), "acme", "create");
        assertThat(namespaces.list()).isEmpty();

        namespaces.create("acme", n -> {});
        assertRefused(CONFLICT, () -> namespaces.create("acme", n -> n.audit(true)), "acme", "update");
        assertThat(namespaces.describe("acme").audit()).isFalse();
    }

    @Test
    @Proves("NS-1")
    void a_trigger_in_a_disabled_namespace_is_refused_with_what_to_do() {
        steadwork.namespaces().create("default", n -> {});
        steadwork.register(PAY);
        steadwork.namespaces().disable("default");

        assertRefused(PRECONDITION_FAILED, () -> steadwork.workflow(PAY).trigger("x"), "default", "disabled", "enable");
        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow(PAY).triggerAll(List.of("x", "y")),
                "Item 0",
                "default",
                "disabled");
        assertThat(steadwork.runs().count()).isZero();

        steadwork.namespaces().enable("default");
        assertThat(steadwork.workflow(PAY).trigger("x").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("NS-1")
    void a_run_that_executes_when_its_namespace_is_disabled_goes_on_to_its_end_and_its_child_waits() throws Exception {
        var go = new CountDownLatch(1);
        var started = new CountDownLatch(1);
        var operator = open(settings -> settings);
        operator.namespaces().create("default", n -> {});
        steadwork
                .worker()
                .handle(PART, (ctx, input) -> input)
                .handle(PAY, (ctx, input) -> {
                    ctx.run("hold", () -> {
                        started.countDown();
                        go.await();
                    });
                    return input.equals("parent") ? ctx.child(PART, "x").get() : input;
                })
                .start();
        var simple = steadwork.workflow(PAY).trigger("simple");
        var parent = steadwork.workflow(PAY).trigger("parent");
        await().atMost(PATIENCE)
                .until(() -> !simple.steps().isEmpty() || simple.info().startedAt() != null);
        await().atMost(PATIENCE).until(() -> parent.info().startedAt() != null);
        started.await();

        operator.namespaces().disable("default");
        // One heartbeat later no worker claims any more.
        await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
        go.countDown();

        assertThat(simple.await(PATIENCE)).isEqualTo("simple");
        await().atMost(PATIENCE).until(() -> steadwork.runs().type("part").count() == 1);
        await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
        assertThat(steadwork.runs().type("part").page(1).items().get(0).status())
                .isEqualTo(PENDING);

        operator.namespaces().enable("default");
        assertThat(parent.await(PATIENCE)).isEqualTo("x");
        assertThat(parent.status()).isEqualTo(COMPLETED);
    }

    @Test
    @Proves({"NS-1", "DATA-2"})
    void the_payload_limits_of_a_namespace_count() {
        steadwork.register(PAY);
        steadwork.namespaces().create("default", n -> n.payloadLimits(5, 10));

        assertRefused(PAYLOAD_TOO_LARGE, () -> steadwork.workflow(PAY).trigger("0123456789"), "10");
        steadwork.namespaces().update("default", n -> n.payloadLimitsOfProcess());
        assertThat(steadwork.workflow(PAY).trigger("0123456789").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves({"NS-1", "STEP-7"})
    void the_retry_policy_of_a_namespace_counts_for_workflows_without_one() {
        steadwork.namespaces().create("default", n -> n.retry(RetryPolicy.none()));
        steadwork.register(PAY, PART.retry(RetryPolicy.forever()));

        assertThat(steadwork.workflow(PAY).trigger("x").info().retry()).isEqualTo(RetryPolicy.none());
        assertThat(steadwork.workflow("pay").trigger("x").info().retry()).isEqualTo(RetryPolicy.none());
        assertThat(steadwork
                        .workflow(PART.retry(RetryPolicy.forever()))
                        .trigger("x")
                        .info()
                        .retry())
                .isEqualTo(RetryPolicy.forever());
        assertThat(steadwork
                        .workflow(PAY)
                        .retry(RetryPolicy.defaults())
                        .trigger("x")
                        .info()
                        .retry())
                .isEqualTo(RetryPolicy.defaults());
    }

    @Test
    @Proves("NS-1")
    void code_that_changes_settings_may_use_the_engine() {
        steadwork.namespaces().create("default", n -> n.audit(false));
        steadwork.register(PAY);

        steadwork.namespaces().update("default", n -> {
            steadwork.workflow(PAY).trigger("x");
            n.audit(true);
        });

        assertThat(steadwork.namespaces().describe("default").audit()).isTrue();
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }
}
