package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.Observer;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunHandle;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A run that is triggered beside a worker with nothing better to do. */
class EagerStartTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private final AtomicInteger claimed = new AtomicInteger();

    @Test
    @Proves("CLAIM-7")
    void it_begins_with_its_creation_and_is_not_claimed() {
        countClaims();
        awaitIdle(work(WORK, (ctx, input) -> ctx.step("greet", String.class, step -> "hello " + input)));

        assertThat(steadwork.workflow(WORK).trigger("you").await(PATIENCE)).isEqualTo("hello you");

        assertThat(claimed).hasValue(1); // the one that showed that the worker was idle
    }

    @Test
    @Proves({"CLAIM-1", "V1"})
    void it_takes_one_slot_and_no_more() throws InterruptedException {
        var gauge = new Gauge();
        var gate = new Gate();
        steadwork
                .worker()
                .concurrency(2)
                .handle(
                        WORK,
                        (ctx, input) -> gauge.around(() -> {
                            gate.pass();
                            return input;
                        }))
                .start();
        var runs = new ArrayList<RunHandle<String>>();
        for (int i = 0; i < 10; i++) {
            runs.add(steadwork.workflow(WORK).trigger("x"));
        }
        gate.awaitReached();
        gate.open();

        runs.forEach(run -> run.await(PATIENCE));

        assertThat(gauge.highest()).isLessThanOrEqualTo(2);
    }

    @Test
    @Proves("CLAIM-3")
    void it_does_not_overtake_runs_that_wait_for_a_slot() throws InterruptedException {
        var order = new CopyOnWriteArrayList<String>();
        var gate = new Gate();
        steadwork
                .worker()
                .concurrency(1)
                .handle(WORK, (ctx, input) -> {
                    order.add(input);
                    gate.pass();
                    return input;
                })
                .start();
        var runs = new ArrayList<RunHandle<String>>();
        runs.add(steadwork.workflow(WORK).trigger("first"));
        gate.awaitReached();
        for (var input : List.of("second", "third", "fourth")) {
            runs.add(steadwork.workflow(WORK).trigger(input));
        }
        gate.open();
        runs.forEach(run -> run.await(PATIENCE));

        assertThat(order).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    @Proves("CLAIM-7")
    void a_trigger_that_is_refused_leaves_its_slot_free() {
        awaitIdle(steadwork
                .worker()
                .concurrency(1)
                .handle(WORK, (ctx, input) -> input)
                .start());
        steadwork.namespaces().create("default", settings -> {});
        steadwork.namespaces().disable("default");
        assertThatThrownBy(() -> steadwork.workflow(WORK).trigger("no")).isInstanceOf(PreconditionFailed.class);
        steadwork.namespaces().enable("default");

        assertThat(steadwork.workflow(WORK).trigger("yes").await(PATIENCE)).isEqualTo("yes");
    }

    @Test
    @Proves("WORKER-3")
    void it_heeds_the_limit_of_its_queue() throws InterruptedException {
        steadwork.queues().limit("work", QueueLimit.concurrency(1));
        var gauge = new Gauge();
        var gate = new Gate();
        work(
                WORK,
                (ctx, input) -> gauge.around(() -> {
                    gate.pass();
                    return input;
                }));
        var runs = new ArrayList<RunHandle<String>>();
        for (int i = 0; i < 5; i++) {
            runs.add(steadwork.workflow(WORK).trigger("x"));
        }
        gate.awaitReached();
        gate.open();

        runs.forEach(run -> run.await(PATIENCE));

        assertThat(gauge.highest()).isEqualTo(1);
    }

    private void countClaims() {
        steadwork.observe(new Observer() {
            @Override
            public void claimed(int runs, Duration took) {
                claimed.addAndGet(runs);
            }
        });
    }

    /** When a run has ended and its slot is free, the worker has looked for others, and found none. */
    private void awaitIdle(Worker worker) {
        steadwork.workflow(WORK).delay(Duration.ofMillis(1)).trigger("idle").await(PATIENCE);
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
    }
}
