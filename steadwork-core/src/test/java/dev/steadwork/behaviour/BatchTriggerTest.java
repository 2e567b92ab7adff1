package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.PAYLOAD_TOO_LARGE;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.ErrorCode.SERIALIZATION;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.TriggerCheck.REQUIRE_ONLINE;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunHandle;
import dev.steadwork.Trigger;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BatchTriggerTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final Workflow<Object, Object> ANYTHING = Workflow.define("anything", Object.class, Object.class);

    @BeforeEach
    void register() {
        steadwork.register(PAY, ANYTHING);
    }

    @Test
    @Proves("TRIG-6")
    void all_runs_of_a_batch_are_created_in_the_order_given() {
        var inputs = IntStream.range(0, 1500).mapToObj(i -> "order " + i).toList();

        var runs = steadwork.workflow(PAY).tag("batch", "b").triggerAll(inputs);

        assertThat(runs).hasSize(1500).extracting(RunHandle::id).isSorted().doesNotHaveDuplicates();
        assertThat(steadwork.runs().tag("batch", "b").count()).isEqualTo(1500);
        assertThat(runs.get(1499).input()).hasToString("\"order 1499\"");
    }

    @Test
    @Proves("TRIG-6")
    void the_runs_of_a_batch_are_executed() {
        work(PAY, (ctx, order) -> "paid " + order);

        var runs = steadwork.workflow(PAY).triggerAll(List.of("a", "b", "c"));

        assertThat(runs).extracting(run -> run.await(PATIENCE)).containsExactly("paid a", "paid b", "paid c");
    }

    @Test
    @Proves("TRIG-6")
    void every_item_may_have_its_own_options() {
        var runs = steadwork
                .workflow(PAY)
                .triggerAll(List.of(
                        Trigger.of("a").priority(5).tag("customer", "1"),
                        Trigger.of("b").delay(Duration.ofHours(1)).queue("slow"),
                        Trigger.of("c").idempotencyKey("order-c")));

        assertThat(runs.get(0).info().priority()).isEqualTo(5);
        assertThat(runs.get(0).info().tags()).containsEntry("customer", "1");
        assertThat(runs.get(1).status()).isEqualTo(SLEEPING);
        assertThat(runs.get(1).info().queue()).isEqualTo("slow");
        assertThat(runs.get(2).status()).isEqualTo(PENDING);
        assertThat(runs.get(2).info().idempotencyKey()).isEqualTo("order-c");
    }

    @Test
    @Proves("TRIG-6")
    void an_empty_batch_is_nothing() {
        assertThat(steadwork.workflow(PAY).triggerAll(List.<Trigger<String>>of()))
                .isEmpty();
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves({"TRIG-6", "TRIG-2"})
    void an_item_whose_key_is_taken_returns_the_existing_run() {
        var existing = steadwork.workflow(PAY).idempotencyKey("order-b").trigger("b");

        var runs = steadwork
                .workflow(PAY)
                .triggerAll(List.of(Trigger.of("a"), Trigger.of("b").idempotencyKey("order-b")));

        assertThat(runs).extracting(RunHandle::alreadyExisted).containsExactly(false, true);
        assertThat(runs.get(1).id()).isEqualTo(existing.id());
    }

    @Test
    @Proves({"TRIG-6", "TRIG-3"})
    void two_items_with_one_key_are_one_run() {
        var runs = steadwork
                .workflow(PAY)
                .triggerAll(List.of(
                        Trigger.of("a").idempotencyKey("k"), Trigger.of("b").idempotencyKey("k")));

        assertThat(runs).extracting(RunHandle::alreadyExisted).containsExactly(false, true);
        assertThat(runs.get(1).id()).isEqualTo(runs.get(0).id());
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"TRIG-6", "TRIG-3"})
    void a_key_of_another_workflow_refuses_the_batch_and_names_the_item() {
        steadwork.workflow(ANYTHING).idempotencyKey("taken").trigger("x");

        assertRefused(
                CONFLICT,
                () -> steadwork
                        .workflow(PAY)
                        .triggerAll(List.of(
                                Trigger.of("a"),
                                Trigger.of("b").idempotencyKey("free"),
                                Trigger.of("c").idempotencyKey("taken"),
                                Trigger.of("d"))),
                "Item 2",
                "taken");

        assertThat(steadwork.runs().type("pay").count()).isZero();
        assertThat(steadwork.workflow(PAY).idempotencyKey("free").trigger("b").alreadyExisted())
                .isFalse();
    }

    @Test
    @Proves({"TRIG-6", "TRIG-4"})
    void an_item_whose_check_fails_refuses_the_batch_and_is_named() {
        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork
                        .workflow(PAY)
                        .triggerAll(List.of(Trigger.of("a"), Trigger.of("b").check(REQUIRE_ONLINE))),
                "Item 1",
                "No worker");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves({"TRIG-6", "TRIG-4"})
    void a_batch_of_an_unknown_workflow_is_refused() {
        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork.workflow("unknown").triggerAll(List.<Object>of("a", "b")),
                "Item 0",
                "not registered");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves({"TRIG-6", "DATA-2"})
    void an_item_that_is_too_large_refuses_the_batch_and_is_named() {
        var small = open(settings -> settings.payloadLimits(10, 20));

        assertRefused(
                PAYLOAD_TOO_LARGE, () -> small.workflow(PAY).triggerAll(List.of("a", "b", "c".repeat(30))), "item 2");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-6")
    void an_item_that_cannot_be_written_refuses_the_batch_and_is_named() {
        assertRefused(
                SERIALIZATION,
                () -> steadwork.workflow(ANYTHING).triggerAll(List.<Object>of("a", new Object())),
                "item 1");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-6")
    void a_missing_item_refuses_the_batch_and_is_named() {
        assertRefused(
                INVALID_ARGUMENT,
                () -> steadwork.workflow(PAY).triggerAll(Arrays.asList(Trigger.of("a"), (Trigger<String>) null)),
                "triggers[1]");

        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("TRIG-6")
    void nobody_ever_sees_a_part_of_a_batch() {
        var done = new AtomicBoolean();
        var seen = new ConcurrentSkipListSet<Long>();
        var observer = CompletableFuture.runAsync(() -> {
            while (!done.get()) {
                seen.add(steadwork.runs().count());
            }
        });

        for (int i = 0; i < 20; i++) {
            steadwork
                    .workflow(PAY)
                    .triggerAll(
                            IntStream.range(0, 100).mapToObj(n -> "order " + n).toList());
        }
        done.set(true);
        observer.join();

        assertThat(seen).isNotEmpty().allMatch(count -> count % 100 == 0);
    }
}
