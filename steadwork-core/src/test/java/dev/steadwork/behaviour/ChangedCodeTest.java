package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.RunStatus;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Code that changed while runs were under way: {@code ctx.version}. */
class ChangedCodeTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private final CopyOnWriteArrayList<String> executed = new CopyOnWriteArrayList<>();

    private final WorkflowHandler<String, String> oldCode = (ctx, order) -> {
        ctx.run("charge", () -> executed.add("charge"));
        ctx.sleep("cooling-off", Duration.ofSeconds(1));
        ctx.run("ship", () -> executed.add("ship"));
        return "old";
    };

    private WorkflowHandler<String, String> newCode(int min, int max) {
        return (ctx, order) -> {
            int version = ctx.version("fraud-check", min, max);
            if (version >= 1) {
                ctx.run("fraud-check", () -> executed.add("fraud-check"));
            }
            ctx.run("charge", () -> executed.add("charge"));
            ctx.sleep("cooling-off", Duration.ofSeconds(1));
            ctx.run("ship", () -> executed.add("ship"));
            return "version " + version + ctx.version("fraud-check", min, max);
        };
    }

    @Test
    @Proves("STEP-10")
    void a_run_that_passed_before_the_change_keeps_its_old_path() {
        var before = work(ORDER, oldCode);
        var run = steadwork.workflow(ORDER).trigger("o-1");
        Runs.awaitStatus(run, RunStatus.SLEEPING);
        before.close();

        work(ORDER, newCode(0, 1));

        assertThat(run.await(PATIENCE)).isEqualTo("version 00");
        assertThat(executed).containsExactly("charge", "ship");
    }

    @Test
    @Proves("STEP-10")
    void a_new_run_takes_the_new_path_and_keeps_its_version_when_a_newer_one_comes() {
        var first = work(ORDER, newCode(0, 1));
        var run = steadwork.workflow(ORDER).trigger("o-1");
        Runs.awaitStatus(run, RunStatus.SLEEPING);
        first.close();

        work(ORDER, newCode(0, 2));

        assertThat(run.await(PATIENCE)).isEqualTo("version 11");
        assertThat(executed).containsExactly("fraud-check", "charge", "ship");
    }

    @Test
    @Proves("STEP-10")
    void a_version_that_the_code_no_longer_has_fails_the_run_until_it_is_back() {
        var first = work(ORDER, newCode(0, 1));
        var run = steadwork.workflow(ORDER).trigger("o-1");
        Runs.awaitStatus(run, RunStatus.SLEEPING);
        first.close();
        var second = work(ORDER, newCode(2, 3));
        var error = failureOf(run);
        assertThat(error.type()).isEqualTo(NonDeterministicWorkflow.class.getName());
        assertThat(error.message()).contains("'fraud-check'", "version 1", "2 to 3");
        second.close();

        work(ORDER, newCode(1, 3));
        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("version 11");
    }

    @Test
    @Proves("STEP-10")
    void a_run_with_an_open_step_beside_its_handler_passed_before_the_change_too() throws InterruptedException {
        var open = new Gate();
        var before = steadwork
                .worker()
                .handle(ORDER, (ctx, order) -> {
                    var first = ctx.async("first", String.class, step -> {
                        open.pass();
                        return "first";
                    });
                    var second = ctx.async("second", String.class, step -> "second");
                    executed.add(second.get());
                    return first.get();
                })
                .drainTimeout(Duration.ofMillis(100))
                .start();
        var run = steadwork.workflow(ORDER).trigger("o-1");
        open.awaitReached();
        await().atMost(PATIENCE).until(() -> executed.contains("second"));
        before.close();

        work(ORDER, (ctx, order) -> {
            int version = ctx.version("change", 0, 1);
            var first = ctx.async("first", String.class, step -> "first");
            var second = ctx.async("second", String.class, step -> "second");
            return first.get() + second.get() + version;
        });

        assertThat(run.await(PATIENCE)).isEqualTo("firstsecond0");
    }
}
