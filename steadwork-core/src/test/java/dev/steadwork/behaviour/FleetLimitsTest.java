package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.ChildOptions;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.Trigger;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@Proves("WORKER-3")
class FleetLimitsTest extends FaultTest {
    private static final Workflow<String, String> CALL = Workflow.define("call", String.class, String.class);
    private static final Workflow<String, String> OTHER = Workflow.define("other", String.class, String.class);
    private static final String QUEUE = "call";

    /** No test that uses it lasts so long: whatever happens was not found by polling. */
    private static final Duration NO_POLL = Duration.ofMinutes(5);

    @Test
    void all_workers_together_execute_no_more_runs_of_a_queue_than_its_limit() {
        var gauge = new Gauge();
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(3));
        var runs = trigger(60);

        startWorkers(
                3,
                (ctx, input) -> gauge.around(() -> {
                    ctx.run("work", () -> TimeUnit.MILLISECONDS.sleep(20));
                    return input;
                }));

        runs.forEach(run -> run.await(PATIENCE));
        assertThat(gauge.highest()).isBetween(2, 3);
    }

    @Test
    void all_workers_together_execute_no_more_runs_of_a_key_than_its_limit() {
        var gauges = new ConcurrentHashMap<String, Gauge>();
        var all = new Gauge();
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(5).perKey(2));
        var runs = Stream.of("a", "b", "c", "d")
                .flatMap(key -> triggerKeyed(key, 15).stream())
                .toList();

        startWorkers(
                3,
                (ctx, key) -> all.around(() -> gauges.computeIfAbsent(key, k -> new Gauge())
                        .around(() -> {
                            ctx.run("work", () -> TimeUnit.MILLISECONDS.sleep(20));
                            return key;
                        })));

        runs.forEach(run -> run.await(PATIENCE));
        assertThat(gauges.values()).hasSize(4).allMatch(gauge -> gauge.highest() <= 2);
        assertThat(all.highest()).isBetween(3, 5);
    }

    @Test
    void no_span_of_time_has_more_starts_than_the_rate() {
        var period = Duration.ofMillis(400);
        steadwork.queues().limit(QUEUE, QueueLimit.none().rate(5, period));
        var runs = trigger(23);

        startWorkers(2, (ctx, input) -> input);

        runs.forEach(run -> run.await(PATIENCE));
        var starts = runs.stream().map(run -> run.info().startedAt()).sorted().toList();
        for (int i = 0; i + 5 < starts.size(); i++) {
            assertThat(Duration.between(starts.get(i), starts.get(i + 5))).isGreaterThanOrEqualTo(period);
        }
    }

    @Test
    void runs_that_sleep_leave_their_place_to_others() {
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(1).perKey(1));
        var runs = new ArrayList<>(triggerKeyed("a", 3));
        runs.addAll(trigger(3));

        startWorkers(2, (ctx, input) -> {
            ctx.sleep("nap", Duration.ofHours(1));
            return input;
        });

        runs.forEach(run -> awaitStatus(run, RunStatus.SLEEPING));
    }

    @Test
    void the_places_of_a_worker_that_was_killed_are_free_when_its_leases_end() {
        steadwork.queues().limit(SCRIPT.name(), QueueLimit.concurrency(2));
        var killed = startProcess(Duration.ofSeconds(2));
        var held = List.of(play("hold a"), play("hold b"));
        held.forEach(run -> awaitStatus(run, RunStatus.RUNNING));
        var report = new Report();
        var script = new Script(report::add);
        script.go();
        work(SCRIPT, script);
        var waiting = play("step c");

        Runs.awaitTwoHeartbeats(held.get(0));
        assertThat(waiting.status()).isEqualTo(RunStatus.PENDING);
        killed.kill();

        waiting.await(PATIENCE);
        held.forEach(run -> run.await(PATIENCE));
        assertThat(held).allMatch(run -> run.info().lease().lost() == 1);
    }

    @Test
    void a_key_with_a_long_backlog_does_not_delay_the_first_run_of_another() throws InterruptedException {
        var gate = new Gate();
        steadwork.register(CALL);
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(10).perKey(2));
        for (int i = 0; i < 20; i++) {
            triggerKeyed("big", 5_000);
        }
        startWorkers(2, (ctx, key) -> {
            if (key.equals("big")) {
                gate.pass();
            }
            return key;
        });
        gate.awaitReached();

        for (var key : List.of("small", "aardvark", "zebra")) {
            var run = triggerKeyed(key, 1).get(0);
            run.await(PATIENCE);
            assertThat(Duration.between(run.info().createdAt(), run.info().startedAt()))
                    .as("a second, and some for a busy machine")
                    .isLessThan(Duration.ofSeconds(4));
        }
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(1)); // so that closing has little to wait for
        gate.open();
    }

    @Test
    void a_limit_set_while_workers_work_counts_what_executes_and_holds_from_the_next_heartbeat_on() {
        var gate = new Gate();
        var gauge = new Gauge();
        startWorkers(
                2,
                (ctx, input) -> gauge.around(() -> {
                    gate.pass();
                    return input;
                }));
        var before = trigger(4);
        before.forEach(run -> awaitStatus(run, RunStatus.RUNNING));

        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(5));
        before.forEach(Runs::awaitTwoHeartbeats);
        var after = trigger(6);
        await().atMost(PATIENCE).until(() -> gauge.inside() == 5);
        before.forEach(Runs::awaitTwoHeartbeats);

        assertThat(gauge.highest()).isEqualTo(5);
        gate.open();
        Stream.of(before, after).flatMap(List::stream).forEach(run -> run.await(PATIENCE));
        assertThat(gauge.highest()).isEqualTo(5);
    }

    @Test
    void what_a_worker_took_before_it_knew_of_a_limit_counts_from_its_next_heartbeat_on() {
        var gate = new Gate();
        WorkflowHandler<String, String> handler = (ctx, input) -> {
            gate.pass();
            return input;
        };
        worker(open(settings -> settings.lease(Duration.ofSeconds(4)).heartbeat(Duration.ofSeconds(1))), handler);
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(4));
        var taken = trigger(4);
        taken.forEach(run -> awaitStatus(run, RunStatus.RUNNING));
        Runs.awaitTwoHeartbeats(taken.get(0));

        startWorkers(1, handler);
        var waiting = trigger(1).get(0);

        Runs.awaitTwoHeartbeats(taken.get(0));
        assertThat(waiting.status()).isEqualTo(RunStatus.PENDING);
        gate.open();
        waiting.await(PATIENCE);
    }

    @Test
    void a_limit_that_is_taken_away_lets_waiting_runs_start_at_once() {
        var together = new CyclicBarrier(3);
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(1));
        startWorkers(1, (ctx, input) -> {
            together.await(60, TimeUnit.SECONDS);
            return input;
        });
        var runs = trigger(3);
        await().atMost(PATIENCE).until(() -> runs.stream().anyMatch(run -> run.status() == RunStatus.RUNNING));

        steadwork.queues().unlimited(QUEUE);

        runs.forEach(run -> run.await(PATIENCE));
        assertThat(steadwork.queues().limits()).isEmpty();
    }

    @Test
    void a_queue_at_its_limit_does_not_hold_up_the_others_of_its_worker() {
        var gate = new Gate();
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(1));
        open(settings -> settings.pollInterval(NO_POLL))
                .worker()
                .handle(CALL, (ctx, input) -> {
                    gate.pass();
                    return input;
                })
                .handle(OTHER, (ctx, input) -> input)
                .concurrency(3)
                .start();
        var limited = trigger(10);

        var others = steadwork.workflow(OTHER).triggerAll(Collections.nCopies(20, "x"));

        others.forEach(run -> run.await(PATIENCE));
        gate.open();
        limited.forEach(run -> run.await(PATIENCE));
    }

    @Test
    void a_limited_queue_gets_its_share_of_a_worker_that_others_keep_busy() {
        steadwork.queues().limit(QUEUE, QueueLimit.concurrency(5));
        steadwork.register(CALL, OTHER);
        var others = steadwork.workflow(OTHER).triggerAll(Collections.nCopies(200, "x"));
        var limited = trigger(2);
        steadwork
                .worker()
                .handle(CALL, (ctx, input) -> input)
                .handle(OTHER, (ctx, input) -> {
                    ctx.run("work", () -> TimeUnit.MILLISECONDS.sleep(20));
                    return input;
                })
                .concurrency(2)
                .start();

        limited.forEach(run -> run.await(PATIENCE));

        assertThat(others).anyMatch(run -> run.status() == RunStatus.PENDING);
    }

    @Test
    void limits_are_told_by_queue_and_stay_in_their_namespace() {
        var limit = QueueLimit.concurrency(10).perKey(2).rate(100, Duration.ofMinutes(1));
        steadwork.queues().limit(QUEUE, limit);

        assertThat(steadwork.queues().limits()).isEqualTo(Map.of(QUEUE, limit));
        assertThat(open(settings -> settings.namespace("elsewhere")).queues().limits())
                .isEmpty();
    }

    @Test
    void a_run_tells_its_concurrency_key() {
        assertThat(triggerKeyed("customer-42", 1).get(0).info().concurrencyKey())
                .isEqualTo("customer-42");
        assertThat(trigger(1).get(0).info().concurrencyKey()).isNull();
    }

    @Test
    void a_child_has_the_key_that_its_parent_gave_it() {
        steadwork
                .worker()
                .handle(CALL, (ctx, input) -> input)
                .handle(
                        OTHER,
                        (ctx, input) -> ctx.child(
                                        CALL, input, ChildOptions.defaults().concurrencyKey("customer-42"))
                                .get())
                .start();

        var parent = steadwork.workflow(OTHER).concurrencyKey("parent").trigger("x");
        parent.await(PATIENCE);

        assertThat(steadwork.runs().parent(parent.id()).page(10).items())
                .extracting(RunInfo::concurrencyKey)
                .containsExactly("customer-42");
    }

    /** Workers in engines of their own, which hear of work but do not poll for it. */
    private void startWorkers(int engines, WorkflowHandler<String, String> handler) {
        for (int i = 0; i < engines; i++) {
            worker(open(settings -> settings.pollInterval(NO_POLL)), handler);
        }
    }

    private static void worker(Steadwork engine, WorkflowHandler<String, String> handler) {
        engine.worker()
                .handle(CALL, handler)
                .concurrency(10)
                .drainTimeout(Duration.ofSeconds(1))
                .start();
    }

    private List<RunHandle<String>> trigger(int runs) {
        steadwork.register(CALL);
        return steadwork.workflow(CALL).triggerAll(Collections.nCopies(runs, "x"));
    }

    private List<RunHandle<String>> triggerKeyed(String key, int runs) {
        steadwork.register(CALL);
        return steadwork
                .workflow(CALL)
                .triggerAll(IntStream.range(0, runs)
                        .mapToObj(i -> Trigger.of(key).concurrencyKey(key))
                        .toList());
    }
}
