package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClaimOrderTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void register() {
        steadwork.register(WORK);
    }

    @Test
    @Proves("CLAIM-3")
    void higher_priorities_go_first_and_equal_ones_in_the_order_they_were_triggered() {
        var priorities = new Random(7).ints(60, -2, 3).boxed().toList();
        var runs = new ArrayList<RunHandle<String>>();
        for (int i = 0; i < priorities.size(); i++) {
            runs.add(steadwork.workflow(WORK).priority(priorities.get(i)).trigger("" + i));
        }

        oneAfterTheOther();
        runs.forEach(run -> run.await(PATIENCE));

        var expected = IntStream.range(0, priorities.size())
                .boxed()
                .sorted(Comparator.comparing(priorities::get).reversed())
                .map(i -> "" + i)
                .toList();
        assertThat(order).isEqualTo(expected);
    }

    @Test
    @Proves("CLAIM-3")
    void runs_due_at_the_same_time_go_in_the_order_of_their_ids() {
        var inputs = IntStream.range(0, 100).mapToObj(i -> "" + i).toList();
        var runs = steadwork.workflow(WORK).triggerAll(inputs);

        oneAfterTheOther();
        runs.forEach(run -> run.await(PATIENCE));

        assertThat(order).isEqualTo(inputs);
    }

    @Test
    @Proves("CLAIM-3")
    void a_run_due_earlier_goes_before_one_triggered_earlier() {
        var delayed = steadwork.workflow(WORK).delay(Duration.ofMillis(400)).trigger("delayed");
        var atOnce = steadwork.workflow(WORK).trigger("at once");
        var due = delayed.info().times().due();
        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(due.plusMillis(50)));

        oneAfterTheOther();
        delayed.await(PATIENCE);
        atOnce.await(PATIENCE);

        assertThat(order).containsExactly("at once", "delayed");
    }

    @Test
    @Proves("CLAIM-3")
    void an_urgent_run_overtakes_those_that_wait() throws InterruptedException {
        var started = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        steadwork
                .worker()
                .concurrency(1)
                .handle(WORK, (ctx, name) -> {
                    order.add(name);
                    started.countDown();
                    release.await();
                    return name;
                })
                .start();
        steadwork.workflow(WORK).trigger("first");
        started.await();

        var patient = steadwork.workflow(WORK).trigger("patient");
        var urgent = steadwork.workflow(WORK).priority(1).trigger("urgent");
        release.countDown();
        urgent.await(PATIENCE);
        patient.await(PATIENCE);

        assertThat(order).containsExactly("first", "urgent", "patient");
    }

    @Test
    @Proves("CLAIM-3")
    void priorities_hold_across_the_queues_of_a_worker() {
        var slow = Workflow.define("slow", String.class, String.class).onQueue("b");
        var fast = Workflow.define("fast", String.class, String.class).onQueue("a");
        steadwork.register(slow, fast);
        var low = steadwork.workflow(fast).trigger("low");
        var high = steadwork.workflow(slow).priority(5).trigger("high");

        steadwork
                .worker()
                .concurrency(1)
                .handle(slow, (ctx, name) -> note(name))
                .handle(fast, (ctx, name) -> note(name))
                .start();
        low.await(PATIENCE);
        high.await(PATIENCE);

        assertThat(order).containsExactly("high", "low");
    }

    private void oneAfterTheOther() {
        steadwork
                .worker()
                .concurrency(1)
                .handle(WORK, (ctx, name) -> note(name))
                .start();
    }

    private String note(String name) {
        order.add(name);
        return name;
    }
}
