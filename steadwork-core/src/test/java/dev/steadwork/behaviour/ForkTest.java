package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ErrorCode;
import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.store.RunIds;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ForkTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private final List<String> executed = new CopyOnWriteArrayList<>();
    private final Gate gate = new Gate();

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves("RETRY-1")
    void a_fork_executes_the_chosen_step_and_all_after_it() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        var fork = run.fork("pack");

        assertThat(fork.id()).isNotEqualTo(run.id());
        assertThat(fork.alreadyExisted()).isFalse();
        assertThat(fork.await(PATIENCE)).isEqualTo("tea charged packed shipped");
        assertThat(executed).containsExactly("pack tea", "ship tea");
        assertThat(step(fork, "charge")).isEqualTo(step(run, "charge"));
        assertThat(step(fork, "pack")).isNotEqualTo(step(run, "pack"));
        assertThat(run.result()).isEqualTo("tea charged packed shipped");
    }

    @Test
    @Proves("RETRY-1")
    void a_fork_from_the_first_step_executes_everything() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        run.fork("charge").await(PATIENCE);

        assertThat(executed).containsExactly("charge tea", "pack tea", "ship tea");
    }

    @Test
    @Proves("RETRY-1")
    void a_fork_may_have_another_input_and_keeps_the_results_of_the_old_one() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        var fork = run.fork("ship", "coffee");

        assertThat(fork.await(PATIENCE)).isEqualTo("tea charged packed shipped");
        assertThat(executed).containsExactly("ship coffee");
        assertThat(run.input().toString()).contains("tea");
        assertThat(fork.input().toString()).contains("coffee");
    }

    @Test
    @Proves({"RETRY-1", "DATA-1"})
    void an_input_of_null_is_another_input_too() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        run.fork("ship", null).await(PATIENCE);

        assertThat(executed).containsExactly("ship null");
    }

    @Test
    @Proves({"RETRY-1", "DATA-2"})
    void an_input_over_the_limit_is_refused_and_nothing_is_forked() {
        var strict = open(settings -> settings.payloadLimits(10, 20));
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);

        assertRefused(
                ErrorCode.PAYLOAD_TOO_LARGE,
                () -> strict.run(run.id(), ORDER).fork("ship", "x".repeat(30)),
                run.id().toString(),
                "20");
        assertThat(steadwork.runs().type("order").count()).isEqualTo(1);
    }

    @Test
    @Proves("RETRY-1")
    void a_failed_run_is_forked_before_the_step_that_led_it_astray() {
        work(ORDER, (ctx, input) -> {
            var price = ctx.step("price", Integer.class, step -> {
                executed.add("price");
                return executed.size() == 1 ? -1 : 42;
            });
            ctx.run("charge", attempts(1), step -> {
                if (price < 0) {
                    throw new IllegalArgumentException("negative price");
                }
            });
            return "paid " + price;
        });
        var run = trigger("tea");
        failureOf(run);

        var fork = run.fork("price");

        assertThat(fork.await(PATIENCE)).isEqualTo("paid 42");
        assertThat(run.status()).isEqualTo(RunStatus.FAILED);
    }

    @Test
    @Proves({"RETRY-1", "STEP-7"})
    void a_failed_step_before_the_chosen_one_stays_failed_with_its_attempts() {
        work(ORDER, (ctx, input) -> {
            try {
                ctx.run("card", attempts(2), step -> {
                    executed.add("card");
                    throw new IllegalStateException("no card");
                });
            } catch (StepFailedException noCard) {
                ctx.run("invoice", () -> executed.add("invoice"));
            }
            return input;
        });
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        var fork = run.fork("invoice");

        fork.await(PATIENCE);
        assertThat(executed).containsExactly("invoice");
        assertThat(step(fork, "card")).isEqualTo(step(run, "card"));
        assertThat(step(fork, "card").status()).isEqualTo(StepStatus.FAILED);
        assertThat(step(fork, "card").failedAttempts()).hasSize(1);
    }

    @Test
    @Proves({"RETRY-1", "STEP-2"})
    void a_repeated_step_is_chosen_by_its_number() {
        work(ORDER, (ctx, input) -> {
            for (int i = 1; i <= 3; i++) {
                int round = i;
                ctx.run("mail", () -> executed.add("mail " + round));
            }
            return input;
        });
        var run = trigger("tea");
        run.await(PATIENCE);
        executed.clear();

        run.fork("mail#2").await(PATIENCE);

        assertThat(executed).containsExactly("mail 2", "mail 3");
    }

    @Test
    @Proves("RETRY-1")
    void a_running_run_is_forked_from_what_is_recorded_and_goes_on_by_itself() throws Exception {
        work(ORDER, (ctx, input) -> {
            ctx.run("charge", () -> executed.add("charge"));
            ctx.run("pack", () -> executed.add("pack"));
            if (input.equals("first")) {
                gate.pass();
            }
            ctx.run("ship", () -> executed.add("ship"));
            return input;
        });
        var run = trigger("first");
        gate.awaitReached();

        var fork = run.fork("pack", "second");

        assertThat(fork.await(PATIENCE)).isEqualTo("second");
        assertThat(executed).containsExactly("charge", "pack", "pack", "ship");
        assertThat(run.status()).isEqualTo(RunStatus.RUNNING);
        gate.open();
        assertThat(run.await(PATIENCE)).isEqualTo("first");
        assertThat(executed).hasSize(5);
    }

    @Test
    @Proves({"RETRY-1", "SLEEP-1"})
    void a_sleep_before_the_chosen_step_is_not_slept_again() {
        work(ORDER, (ctx, input) -> {
            ctx.sleep("nap", Duration.ofMillis(50));
            ctx.run("ship", () -> executed.add("ship"));
            return input;
        });
        var run = trigger("tea");
        run.await(PATIENCE);

        var fork = run.fork("ship");

        fork.await(PATIENCE);
        assertThat(step(fork, "nap")).isEqualTo(step(run, "nap"));
    }

    @Test
    @Proves({"RETRY-1", "SLEEP-1"})
    void a_fork_from_a_sleep_sleeps_it_anew() {
        work(ORDER, (ctx, input) -> {
            ctx.run("charge", () -> executed.add("charge"));
            ctx.sleep("nap", input.equals("long") ? Duration.ofHours(1) : Duration.ofMillis(1));
            return input;
        });
        var run = trigger("long");
        awaitStatus(run, RunStatus.SLEEPING);

        assertThat(run.fork("nap", "short").await(PATIENCE)).isEqualTo("short");
        assertThat(executed).containsExactly("charge");
        assertThat(run.status()).isEqualTo(RunStatus.SLEEPING);
    }

    @Test
    @Proves("RETRY-1")
    void a_fork_tells_where_it_came_from_and_has_a_step_key_of_its_own() {
        var keys = new CopyOnWriteArrayList<String>();
        work(ORDER, (ctx, input) -> {
            ctx.run("charge", step -> keys.add(step.idempotencyKey()));
            return input;
        });
        var run = steadwork
                .workflow(ORDER)
                .idempotencyKey("order-1")
                .tag("customer", "42")
                .externalId("o-1")
                .trigger("tea");
        run.await(PATIENCE);

        var fork = run.fork("charge");
        fork.await(PATIENCE);

        assertThat(keys).doesNotHaveDuplicates().hasSize(2);
        assertThat(fork.info().tags())
                .containsEntry("customer", "42")
                .containsEntry("forked-from", run.id().toString());
        assertThat(fork.info().externalId()).isEqualTo("o-1");
        assertThat(fork.info().idempotencyKey()).isNull();
        assertThat(steadwork
                        .runs()
                        .tag("forked-from", run.id().toString())
                        .page(10)
                        .items())
                .extracting(RunInfo::id)
                .containsExactly(fork.id());
    }

    @Test
    @Proves({"RETRY-1", "CLAIM-7"})
    void a_fork_starts_at_once_in_a_worker_that_hardly_ever_polls() {
        var lazy = open(settings -> settings.pollInterval(Duration.ofMinutes(5)));
        lazy.worker().handle(ORDER, this::order).start();
        var run = lazy.workflow(ORDER).trigger("tea");
        run.await(PATIENCE);

        var fork = run.fork("ship");

        await().atMost(Duration.ofSeconds(10)).until(() -> fork.status() == RunStatus.COMPLETED);
    }

    @Test
    @Proves({"RETRY-1", "STORE-3"})
    void an_unknown_step_is_refused_and_the_recorded_ones_are_named() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);

        assertRefused(ErrorCode.NOT_FOUND, () -> run.fork("shop"), run.id().toString(), "'shop'", "charge, pack, ship");
        assertRefused(ErrorCode.NOT_FOUND, () -> run.fork("charge#2"), "'charge#2'");
        assertThat(steadwork.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"RETRY-1", "STORE-3"})
    void an_unknown_and_a_deleted_run_are_refused() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        run.delete("test");
        var unknown = steadwork.run(RunIds.next("default", null), ORDER);

        assertRefused(ErrorCode.INVALID_STATE, () -> run.fork("ship"), run.id().toString(), "deleted");
        assertRefused(
                ErrorCode.NOT_FOUND, () -> unknown.fork("ship"), unknown.id().toString());
    }

    @Test
    @Proves("RETRY-1")
    void a_fork_can_be_forked() {
        work(ORDER, this::order);
        var run = trigger("tea");
        run.await(PATIENCE);
        var fork = run.fork("pack");
        fork.await(PATIENCE);
        executed.clear();

        var second = fork.fork("ship");

        second.await(PATIENCE);
        assertThat(executed).containsExactly("ship tea");
        assertThat(second.info().tags()).containsEntry("forked-from", fork.id().toString());
        assertThat(second.steps()).extracting(StepInfo::name).containsExactly("charge", "pack", "ship");
    }

    private String order(WorkflowContext ctx, String input) {
        var charged = ctx.step("charge", String.class, step -> done("charge", input, input + " charged"));
        var packed = ctx.step("pack", String.class, step -> done("pack", input, charged + " packed"));
        return ctx.step("ship", String.class, step -> done("ship", input, packed + " shipped"));
    }

    private String done(String step, String input, String result) {
        executed.add(step + " " + input);
        return result;
    }

    private RunHandle<String> trigger(String input) {
        return steadwork.workflow(ORDER).trigger(input);
    }
}
