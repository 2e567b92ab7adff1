package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.KeyPolicy.FOREVER;
import static dev.steadwork.KeyPolicy.WHILE_ACTIVE;
import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.KeyPolicy;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IdempotencyTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final Workflow<String, String> SHIP = Workflow.define("ship", String.class, String.class);
    private static final int THREADS = 50;

    @BeforeEach
    void register() {
        steadwork.register(PAY, SHIP);
    }

    @Test
    @Proves("TRIG-2")
    void a_second_trigger_with_the_same_key_returns_the_first_run() {
        var first = pay("order-1", FOREVER);
        var second = steadwork.workflow(PAY).idempotencyKey("order-1").trigger("another input");

        assertThat(first.alreadyExisted()).isFalse();
        assertThat(second.alreadyExisted()).isTrue();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.input().bytes()).isEqualTo("\"first\"".getBytes(StandardCharsets.UTF_8));
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves("TRIG-2")
    void the_second_trigger_can_await_the_result_of_the_first() {
        var first = pay("order-1", FOREVER);
        var second = pay("order-1", FOREVER);

        work(PAY, (ctx, input) -> input.toUpperCase(Locale.ROOT));

        assertThat(first.await(PATIENCE)).isEqualTo("FIRST");
        assertThat(second.await(PATIENCE)).isEqualTo("FIRST");
    }

    @Test
    @Proves("TRIG-3")
    void by_default_a_key_stands_for_its_run_after_the_run_has_ended() {
        work(PAY, (ctx, input) -> input);
        var first = steadwork.workflow(PAY).idempotencyKey("order-1").trigger("first");
        first.await(PATIENCE);

        var second = steadwork.workflow(PAY).idempotencyKey("order-1").trigger("second");

        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.result()).isEqualTo("first");
    }

    @Test
    @Proves("TRIG-3")
    void a_key_while_active_is_free_again_when_its_run_has_completed() {
        work(PAY, (ctx, input) -> input);
        var first = pay("order-1", WHILE_ACTIVE);
        first.await(PATIENCE);

        var second = pay("order-1", WHILE_ACTIVE);

        assertThat(second.alreadyExisted()).isFalse();
        assertThat(second.id()).isNotEqualTo(first.id());
    }

    @Test
    @Proves("TRIG-3")
    void a_key_while_active_is_free_again_when_its_run_has_failed_or_was_cancelled() {
        var failed = failedWith("order-1", WHILE_ACTIVE);
        var cancelled = steadwork
                .workflow(SHIP)
                .idempotencyKey("order-2")
                .keyPolicy(WHILE_ACTIVE)
                .trigger("x");
        cancelled.cancel();

        assertThat(failed.status()).isEqualTo(FAILED);
        assertThat(cancelled.status()).isEqualTo(CANCELLED);
        assertThat(pay("order-1", WHILE_ACTIVE).alreadyExisted()).isFalse();
        assertThat(pay("order-2", WHILE_ACTIVE).alreadyExisted()).isFalse();
    }

    @Test
    @Proves("TRIG-3")
    void the_policy_of_the_existing_run_decides() {
        work(PAY, (ctx, input) -> input);
        var forever = pay("kept", FOREVER);
        var whileActive = pay("freed", WHILE_ACTIVE);
        forever.await(PATIENCE);
        whileActive.await(PATIENCE);

        assertThat(pay("kept", WHILE_ACTIVE).id()).isEqualTo(forever.id());
        assertThat(pay("freed", FOREVER).id()).isNotEqualTo(whileActive.id());
    }

    @Test
    @Proves("TRIG-3")
    void an_active_run_holds_its_key_under_either_policy() {
        var forever = pay("a", FOREVER);
        var whileActive = pay("b", WHILE_ACTIVE);

        assertThat(pay("a", WHILE_ACTIVE).id()).isEqualTo(forever.id());
        assertThat(pay("b", FOREVER).id()).isEqualTo(whileActive.id());
    }

    @Test
    @Proves("TRIG-3")
    void sleeping_and_paused_runs_are_active() {
        var sleeping = steadwork
                .workflow(PAY)
                .idempotencyKey("sleeps")
                .keyPolicy(WHILE_ACTIVE)
                .delay(Duration.ofHours(1))
                .trigger("first");
        var paused = pay("paused", WHILE_ACTIVE);
        paused.pause();

        assertThat(pay("sleeps", WHILE_ACTIVE).id()).isEqualTo(sleeping.id());
        assertThat(pay("paused", WHILE_ACTIVE).id()).isEqualTo(paused.id());
    }

    @Test
    @Proves("TRIG-3")
    void the_policy_of_the_definition_is_used_unless_the_trigger_says_otherwise() {
        var reusable = PAY.keyPolicy(WHILE_ACTIVE);

        var byDefinition = steadwork.workflow(reusable).idempotencyKey("a").trigger("x");
        var byTrigger = steadwork
                .workflow(reusable)
                .idempotencyKey("b")
                .keyPolicy(FOREVER)
                .trigger("x");

        assertThat(byDefinition.info().keyPolicy()).isEqualTo(WHILE_ACTIVE);
        assertThat(byTrigger.info().keyPolicy()).isEqualTo(FOREVER);
    }

    @Test
    @Proves("TRIG-3")
    void the_key_of_a_run_of_another_workflow_is_a_conflict_that_names_the_holder() {
        var holder = pay("order-1", FOREVER);

        assertRefused(
                CONFLICT,
                () -> steadwork.workflow(SHIP).idempotencyKey("order-1").trigger("x"),
                "order-1",
                holder.id().toString(),
                "pay",
                "ship",
                "another key");
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"TRIG-3", "DATA-4"})
    void a_key_is_free_again_after_its_run_was_deleted() {
        var first = pay("order-1", FOREVER);
        first.delete("entered twice");

        var second = pay("order-1", FOREVER);

        assertThat(second.alreadyExisted()).isFalse();
        assertThat(second.id()).isNotEqualTo(first.id());
    }

    @Test
    @Proves({"TRIG-3", "RETRY-1"})
    void retrying_a_run_whose_key_was_taken_meanwhile_is_a_conflict() {
        var failed = failedWith("order-1", WHILE_ACTIVE);
        var taker = pay("order-1", WHILE_ACTIVE);

        assertRefused(CONFLICT, failed::retry, failed.id().toString(), "idempotency key");

        assertThat(failed.status()).isEqualTo(FAILED);
        taker.cancel();
        failed.retry();
        assertThat(failed.status().isTerminal()).isFalse();
    }

    @Test
    @Proves("TRIG-3")
    void keys_differ_by_every_character() {
        var keys =
                List.of("k", "K", "k ", "k%", "k_", "k'", "k\\", "\u00e9", "e\u0301", "\ud83d\ude00", "k".repeat(255));

        var ids = keys.stream().map(key -> pay(key, FOREVER).id()).toList();

        assertThat(ids).doesNotHaveDuplicates();
        assertThat(keys)
                .allSatisfy(
                        key -> assertThat(pay(key, FOREVER).alreadyExisted()).isTrue());
    }

    @Test
    @Proves({"TRIG-2", "TRIG-3"})
    void fifty_threads_with_one_key_make_one_run() throws Exception {
        for (int race = 0; race < 10; race++) {
            var key = "order-" + race;
            var policy = race % 2 == 0 ? FOREVER : WHILE_ACTIVE;

            assertOneRun(AtOnce.call(THREADS, i -> pay(key, policy)));
        }

        assertThat(steadwork.runs().count()).isEqualTo(10);
    }

    @Test
    @Proves({"TRIG-2", "TRIG-3"})
    void fifty_threads_of_several_processes_with_one_key_make_one_run() throws Exception {
        var engines = List.of(steadwork, open(settings -> settings), open(settings -> settings));
        for (int race = 0; race < 10; race++) {
            var key = "order-" + race;

            assertOneRun(AtOnce.call(THREADS, i -> pay(engines.get(i % 3), key, FOREVER)));
        }

        assertThat(steadwork.runs().count()).isEqualTo(10);
    }

    private static void assertOneRun(List<RunHandle<String>> runs) {
        assertThat(runs).extracting(RunHandle::id).containsOnly(runs.get(0).id());
        assertThat(runs).extracting(RunHandle::alreadyExisted).containsOnlyOnce(false);
    }

    private RunHandle<String> failedWith(String key, KeyPolicy policy) {
        var worker = work(PAY, (ctx, input) -> {
            throw new PermanentFailure("no");
        });
        var run = pay(key, policy);
        assertThatThrownBy(() -> run.await(PATIENCE)).isInstanceOf(RunFailedException.class);
        worker.close();
        return run;
    }

    private RunHandle<String> pay(String key, KeyPolicy policy) {
        return pay(steadwork, key, policy);
    }

    private static RunHandle<String> pay(Steadwork engine, String key, KeyPolicy policy) {
        return engine.workflow(PAY).idempotencyKey(key).keyPolicy(policy).trigger("first");
    }
}
