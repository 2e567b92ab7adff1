package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ChildOptions;
import dev.steadwork.InvalidArgument;
import dev.steadwork.InvalidState;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepKind;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Children: started once, awaited without a slot, ended with their parents: CHILD-1. */
class ChildTest extends EngineTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Workflow<Integer, Integer> PARENT = Workflow.define("parent", Integer.class, Integer.class);
    private static final Workflow<Integer, Integer> CHILD = Workflow.define("child", Integer.class, Integer.class);
    private static final Workflow<Integer, Integer> GRANDCHILD =
            Workflow.define("grandchild", Integer.class, Integer.class);

    @Test
    @Proves("CHILD-1")
    void the_result_of_a_child_reaches_its_parent() {
        var childRuns = new AtomicInteger();
        work(CHILD, (ctx, n) -> {
            childRuns.incrementAndGet();
            return n * 2;
        });
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get() + 1);

        var run = steadwork.workflow(PARENT).trigger(20);

        assertThat(run.await(PATIENCE)).isEqualTo(41);
        assertThat(childRuns).hasValue(1);
        var step = Runs.step(run, "child");
        assertThat(step.kind()).isEqualTo(StepKind.CHILD);
        assertThat(step.childRun()).isNotNull();
        var child = steadwork.run(step.childRun()).info();
        assertThat(child.parent()).isEqualTo(new RunInfo.Parent(run.id(), "child"));
        assertThat(child.id().slot()).isEqualTo(run.id().slot());
    }

    @Test
    @Proves("CHILD-1")
    void a_child_is_started_once_however_often_its_parent_replays() {
        work(CHILD, (ctx, n) -> n);
        work(PARENT, (ctx, n) -> {
            var child = ctx.child(CHILD, n);
            for (int i = 0; i < 3; i++) {
                ctx.sleep("nap", Duration.ofMillis(1));
            }
            return child.get();
        });

        var run = steadwork.workflow(PARENT).trigger(7);

        assertThat(run.await(PATIENCE)).isEqualTo(7);
        assertThat(childrenOf(run)).hasSize(1);
    }

    @Test
    @Proves("CHILD-1")
    void a_thousand_children_fan_out_and_in_on_one_worker_with_ten_slots() {
        var entries = new AtomicInteger();
        steadwork
                .worker()
                .handle(PARENT, (ctx, count) -> {
                    entries.incrementAndGet();
                    var promises = new ArrayList<Promise<Integer>>();
                    for (int i = 1; i <= count; i++) {
                        promises.add(ctx.child(CHILD, i));
                    }
                    return ctx.all(promises).stream()
                            .mapToInt(Integer::intValue)
                            .sum();
                })
                .handle(CHILD, (ctx, n) -> n)
                .concurrency(10)
                .start();

        var run = steadwork.workflow(PARENT).trigger(1000);

        assertThat(run.await(PATIENCE.multipliedBy(3))).isEqualTo(1000 * 1001 / 2);
        assertThat(entries.get()).as("entries of the parent's handler").isLessThan(50);
    }

    @Test
    @Proves("CHILD-1")
    void parents_that_wait_do_not_keep_their_children_from_running() {
        steadwork
                .worker()
                .handle(PARENT, (ctx, n) -> ctx.child(CHILD, n).get())
                .handle(CHILD, (ctx, n) -> ctx.child(GRANDCHILD, n).get())
                .handle(GRANDCHILD, (ctx, n) -> n)
                .concurrency(1)
                .start();

        var runs = steadwork.workflow(PARENT).triggerAll(List.of(1, 2, 3, 4, 5));

        assertThat(runs).extracting(run -> run.await(PATIENCE)).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    @Proves("CHILD-1")
    void a_failed_child_is_an_exception_in_its_parent_with_the_childs_error() {
        work(CHILD, (ctx, n) -> {
            throw new PermanentFailure("no stock");
        });
        work(PARENT, (ctx, n) -> {
            try {
                return ctx.child(CHILD, n).get();
            } catch (StepFailedException failed) {
                assertThat(failed.error().type()).isEqualTo(PermanentFailure.class.getName());
                assertThat(failed.error().message()).contains("no stock");
                return -1;
            }
        });

        assertThat(steadwork.workflow(PARENT).trigger(1).await(PATIENCE)).isEqualTo(-1);
    }

    @Test
    @Proves({"CHILD-1", "RETRY-1"})
    void a_retried_parent_starts_a_failed_child_anew() {
        var attempts = new AtomicInteger();
        work(CHILD, (ctx, n) -> {
            if (attempts.incrementAndGet() == 1) {
                throw new PermanentFailure("not yet");
            }
            return n;
        });
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get());
        var run = steadwork.workflow(PARENT).trigger(5);
        assertThat(failureOf(run).message()).contains("not yet");

        run.retry();

        assertThat(run.await(PATIENCE)).isEqualTo(5);
        assertThat(childrenOf(run)).hasSize(2);
    }

    @Test
    @Proves("CHILD-1")
    void any_of_several_children_wakes_the_parent() {
        work(CHILD, (ctx, n) -> n == 2 ? n : ctx.awaitEvent("never", Integer.class, LONG));
        work(PARENT, (ctx, n) -> ctx.any(List.of(ctx.child(CHILD, 1), ctx.child(CHILD, 2), ctx.child(CHILD, 3))));

        assertThat(steadwork.workflow(PARENT).trigger(0).await(PATIENCE)).isEqualTo(2);
    }

    @Test
    @Proves({"CHILD-1", "CANCEL-1"})
    void cancelling_a_parent_cancels_its_children_and_theirs() {
        work(GRANDCHILD, (ctx, n) -> ctx.awaitEvent("never", Integer.class, LONG));
        work(CHILD, (ctx, n) -> ctx.child(GRANDCHILD, n).get());
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get());
        var run = steadwork.workflow(PARENT).trigger(1);
        var child = onlyChildOf(run);
        var grandchild = onlyChildOf(child);
        awaitStatus(grandchild, RunStatus.SLEEPING);
        awaitStatus(child, RunStatus.SLEEPING);
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
        assertThat(child.status()).isEqualTo(RunStatus.CANCELLED);
        assertThat(grandchild.status()).isEqualTo(RunStatus.CANCELLED);
    }

    @Test
    @Proves({"CHILD-1", "CANCEL-1"})
    void a_child_that_executes_hears_that_its_parent_was_cancelled() throws InterruptedException {
        var executing = new Gate();
        work(CHILD, (ctx, n) -> {
            ctx.run("long", executing::pass);
            return n;
        });
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get());
        var run = steadwork.workflow(PARENT).trigger(1);
        executing.awaitReached();
        awaitStatus(run, RunStatus.SLEEPING);

        run.terminate("enough");

        awaitCancelled(onlyChildOf(run));
    }

    @Test
    @Proves("CHILD-1")
    void a_parent_that_fails_takes_its_children_with_it_but_not_abandoned_ones() {
        work(CHILD, (ctx, n) -> ctx.awaitEvent("never", Integer.class, LONG));
        work(PARENT, (ctx, n) -> {
            ctx.child(CHILD, 1);
            ctx.child(CHILD, 2, ChildOptions.defaults().abandon().name("abandoned"));
            throw new PermanentFailure("parent fails");
        });

        var run = steadwork.workflow(PARENT).trigger(1);
        failureOf(run);

        var taken = steadwork.run(Runs.step(run, "child").childRun());
        var left = steadwork.run(Runs.step(run, "abandoned").childRun());
        await().atMost(PATIENCE).until(() -> taken.status() == RunStatus.CANCELLED);
        awaitStatus(left, RunStatus.SLEEPING);
    }

    @Test
    @Proves("CHILD-1")
    void a_detached_child_is_not_waited_for() {
        work(CHILD, (ctx, n) -> n);
        work(PARENT, (ctx, n) -> {
            var child = ctx.child(CHILD, n, ChildOptions.defaults().detached().tag("kind", "detached"));
            assertThatThrownBy(child::get).isInstanceOf(InvalidState.class).hasMessageContaining("abandon()");
            return 1;
        });

        var run = steadwork.workflow(PARENT).trigger(3);

        assertThat(run.await(PATIENCE)).isEqualTo(1);
        var child = onlyChildOf(run);
        await().atMost(PATIENCE).until(() -> child.status() == RunStatus.COMPLETED);
        assertThat(child.info().tags()).containsEntry("kind", "detached");
    }

    @Test
    @Proves("CHILD-1")
    void cancelling_terminating_or_deleting_a_child_is_a_failure_its_parent_sees() {
        work(CHILD, (ctx, n) -> ctx.awaitEvent("never", Integer.class, LONG));
        work(PARENT, (ctx, n) -> {
            try {
                return ctx.child(CHILD, n).get();
            } catch (StepFailedException failed) {
                return failed.error().type().equals(RunError.CANCELLED)
                        ? 1
                        : failed.error().type().equals(RunError.TERMINATED) ? 2 : 3;
            }
        });
        var runs = steadwork.workflow(PARENT).triggerAll(List.of(1, 2, 3));
        runs.forEach(run -> awaitStatus(onlyChildOf(run), RunStatus.SLEEPING));

        onlyChildOf(runs.get(0)).cancel();
        onlyChildOf(runs.get(1)).terminate("enough");
        onlyChildOf(runs.get(2)).delete("wrong");

        assertThat(runs).extracting(run -> run.await(PATIENCE)).containsExactly(1, 2, 3);
    }

    @Test
    void a_child_of_an_unknown_workflow_is_refused_with_what_to_do() {
        work(
                PARENT,
                (ctx, n) -> ctx.child(Workflow.define("unheard-of", Integer.class, Integer.class), n)
                        .get());

        var error = failureOf(steadwork.workflow(PARENT).trigger(1));

        assertThat(error.type()).isEqualTo(InvalidArgument.class.getName());
        assertThat(error.message()).contains("unheard-of", "not registered", "steadwork.register");
    }

    @Test
    void a_child_that_nobody_awaits_fails_its_parent() {
        work(CHILD, (ctx, n) -> n);
        work(PARENT, (ctx, n) -> {
            ctx.child(CHILD, n);
            return n;
        });

        assertThat(failureOf(steadwork.workflow(PARENT).trigger(1)).message())
                .contains("'child' was never awaited", "detached()");
    }

    @Test
    void workflows_that_start_each_other_in_a_circle_are_stopped() {
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n + 1).get());
        work(CHILD, (ctx, n) -> ctx.child(PARENT, n + 1).get());

        var error = failureOf(steadwork.workflow(PARENT).trigger(0));

        assertThat(error.message()).contains("in a circle", "100 ancestors");
    }

    private List<RunInfo> childrenOf(RunHandle<?> run) {
        return steadwork.runs().parent(run.id()).page(100).items();
    }

    private RunHandle<?> onlyChildOf(RunHandle<?> run) {
        await().atMost(PATIENCE).until(() -> childrenOf(run).size() == 1);
        return steadwork.run(childrenOf(run).get(0).id());
    }

    @Test
    @Proves({"CHILD-1", "EVENT-2"})
    void a_parent_that_was_paused_while_it_waited_is_resumed_beside_others() {
        steadwork.register(CHILD);
        var first = work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get());
        var run = steadwork.workflow(PARENT).trigger(1);
        awaitStatus(run, RunStatus.SLEEPING);
        run.pause();
        first.close();
        run.resume();
        var others = steadwork.workflow(PARENT).triggerAll(List.of(2, 3));

        work(PARENT, (ctx, n) -> n);

        assertThat(others).extracting(other -> other.await(PATIENCE)).containsExactly(2, 3);
    }

    @Test
    void several_children_of_an_unknown_workflow_fail_their_parent_once() {
        var unknown = Workflow.define("unheard-of", Integer.class, Integer.class);
        work(PARENT, (ctx, n) -> {
            var one = ctx.child(unknown, 1);
            var two = ctx.child(unknown, 2);
            return one.get() + two.get();
        });

        var run = steadwork.workflow(PARENT).trigger(1);

        assertThat(failureOf(run).message()).contains("unheard-of");
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves({"CHILD-1", "DATA-4"})
    void deleting_a_child_that_executes_is_a_failure_its_parent_sees() throws InterruptedException {
        var executing = new Gate();
        work(CHILD, (ctx, n) -> {
            ctx.run("hold", executing::pass);
            ctx.sleep("long", LONG);
            return n;
        });
        work(PARENT, (ctx, n) -> ctx.child(CHILD, n).get());
        var run = steadwork.workflow(PARENT).trigger(1);
        executing.awaitReached();
        awaitStatus(run, RunStatus.SLEEPING);

        onlyChildOf(run).delete("wrong");

        assertThat(failureOf(run).type()).isEqualTo(RunError.DELETED);
        executing.open();
    }

    @Test
    @Proves({"CHILD-1", "CANCEL-1"})
    void no_child_escapes_that_is_claimed_while_its_parent_is_cancelled() {
        steadwork.register(CHILD);
        work(PARENT, (ctx, count) -> {
            var children = new ArrayList<Promise<Integer>>();
            for (int i = 0; i < count; i++) {
                children.add(ctx.child(CHILD, i));
            }
            return ctx.all(children).size();
        });
        var run = steadwork.workflow(PARENT).trigger(300);
        awaitStatus(run, RunStatus.SLEEPING);
        var begun = new AtomicInteger();
        steadwork
                .worker()
                .handle(CHILD, (ctx, n) -> {
                    ctx.run("begin", () -> begun.incrementAndGet());
                    return ctx.awaitEvent("never", Integer.class, LONG);
                })
                .concurrency(20)
                .start();
        await().atMost(PATIENCE).until(() -> begun.get() > 20);

        run.cancel();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(steadwork
                                .runs()
                                .parent(run.id())
                                .status(RunStatus.CANCELLED)
                                .count())
                        .isEqualTo(300));
    }
}
