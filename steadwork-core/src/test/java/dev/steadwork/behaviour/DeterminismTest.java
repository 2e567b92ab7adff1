package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.RunError;
import dev.steadwork.StepInfo;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DeterminismTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);

    private final AtomicInteger entries = new AtomicInteger();
    private final CopyOnWriteArrayList<String> executed = new CopyOnWriteArrayList<>();

    @Test
    @Proves("STEP-10")
    void another_name_at_a_position_fails_the_run_and_names_both() {
        work(ORDER, changing(ctx -> step(ctx, "charge"), ctx -> step(ctx, "refund")));

        var run = steadwork.workflow(ORDER).trigger("o-1");
        var error = failureOf(run);

        assertNonDeterministic(error);
        assertThat(error.message()).contains(run.id().toString(), "call 1", "'charge'", "'refund'");
        assertThat(executed).containsExactly("charge");
    }

    @Test
    @Proves("STEP-10")
    void it_is_not_tried_again() {
        work(ORDER, changing(ctx -> step(ctx, "charge"), ctx -> step(ctx, "refund")));

        var run = steadwork.workflow(ORDER).trigger("o-1");
        failureOf(run);

        assertThat(entries).hasValue(2);
        assertThat(run.info().attempt()).isEqualTo(1);
    }

    @Test
    @Proves({"STEP-10", "RETRY-1"})
    void a_run_whose_old_path_was_restored_can_be_retried() {
        work(ORDER, (ctx, order) -> {
            step(ctx, entries.incrementAndGet() == 2 ? "refund" : "charge");
            ctx.sleep("nap", Duration.ofMillis(1));
            step(ctx, "ship");
            return order;
        });
        var run = steadwork.workflow(ORDER).trigger("o-1");
        assertNonDeterministic(failureOf(run));

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo("o-1");
        assertThat(executed).containsExactly("charge", "ship");
    }

    @Test
    @Proves("STEP-10")
    void steps_that_changed_places_are_noticed() {
        work(
                ORDER,
                changing(
                        ctx -> {
                            step(ctx, "charge");
                            step(ctx, "ship");
                        },
                        ctx -> {
                            step(ctx, "ship");
                            step(ctx, "charge");
                        }));

        assertNonDeterministic(failureOf(steadwork.workflow(ORDER).trigger("o-1")));
        assertThat(executed).containsExactly("charge", "ship");
    }

    @Test
    @Proves("STEP-10")
    void a_sleep_where_a_step_was_recorded_is_noticed_although_the_name_is_the_same() {
        work(ORDER, changing(ctx -> step(ctx, "wait"), ctx -> ctx.sleep("wait", Duration.ofMillis(1))));

        var error = failureOf(steadwork.workflow(ORDER).trigger("o-1"));

        assertNonDeterministic(error);
        assertThat(error.message()).containsIgnoringCase("function").containsIgnoringCase("sleep");
    }

    @Test
    @Proves("STEP-10")
    void a_handler_that_catches_every_exception_cannot_go_on_beside_its_record() {
        work(ORDER, changing(ctx -> step(ctx, "charge"), ctx -> {
            try {
                step(ctx, "refund");
            } catch (RuntimeException swallowed) {
                executed.add("went on");
            }
        }));

        assertNonDeterministic(failureOf(steadwork.workflow(ORDER).trigger("o-1")));
        assertThat(executed).containsExactly("charge");
    }

    @Test
    @Proves("STEP-10")
    void calls_added_after_the_recorded_ones_are_fine() {
        work(ORDER, (ctx, order) -> {
            boolean newCode = entries.incrementAndGet() > 1;
            step(ctx, "charge");
            ctx.sleep("nap", Duration.ofMillis(1));
            if (newCode) {
                step(ctx, "thank");
            }
            return order;
        });

        var run = steadwork.workflow(ORDER).trigger("o-1");
        run.await(PATIENCE);

        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("charge", "nap", "thank");
    }

    /** A handler that does one thing when it is entered first, and another when it is entered again after a sleep. */
    private WorkflowHandler<String, String> changing(Path first, Path later) {
        return (ctx, order) -> {
            (entries.incrementAndGet() == 1 ? first : later).take(ctx);
            ctx.sleep("nap", Duration.ofMillis(1));
            return order;
        };
    }

    private void step(WorkflowContext ctx, String name) {
        ctx.run(name, () -> executed.add(name));
    }

    private static void assertNonDeterministic(RunError error) {
        assertThat(error.type()).isEqualTo(NonDeterministicWorkflow.class.getName());
    }

    @FunctionalInterface
    private interface Path {
        void take(WorkflowContext ctx);
    }
}
