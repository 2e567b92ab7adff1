package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidArgument;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SleepTest extends EngineTest {
    private static final Workflow<Integer, Integer> NAP = Workflow.define("nap", Integer.class, Integer.class);
    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicInteger entries = new AtomicInteger();

    @Test
    @Proves("SLEEP-1")
    void a_sleeping_run_holds_no_slot_and_wakes_after_its_time() {
        var worker = work(NAP, (ctx, input) -> {
            ctx.sleep("nap", Duration.ofMillis(1500));
            return input;
        });

        var run = trigger();
        awaitStatus(run, SLEEPING);
        await().atMost(PATIENCE).until(() -> worker.active() == 0);
        run.await(PATIENCE);

        assertThat(Duration.between(run.info().startedAt(), run.info().finishedAt()))
                .isGreaterThanOrEqualTo(Duration.ofMillis(1500));
    }

    @Test
    @Proves("SLEEP-1")
    void the_timer_and_the_release_are_one_write() {
        var elsewhere = open(settings -> settings);
        work(NAP, (ctx, input) -> {
            ctx.sleep("nap", HOUR);
            return input;
        });

        for (int i = 0; i < 10; i++) {
            var run = elsewhere.run(trigger().id());
            awaitStatus(run, SLEEPING);
            var nap = step(run, "nap");
            assertThat(nap.kind()).isEqualTo(StepKind.SLEEP);
            assertThat(nap.finishedAt()).isEqualTo(run.info().times().due());
            assertThat(run.info().lease().worker()).isNull();
        }
    }

    @Test
    @Proves({"SLEEP-1", "V4"})
    void a_sleep_that_ended_while_no_worker_was_there_is_not_slept_again() {
        var first = startNapping(steadwork, Duration.ofMillis(800));
        var run = trigger();
        awaitStatus(run, SLEEPING);
        var wakesAt = run.info().times().due();
        first.close();
        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(wakesAt));

        startNapping(steadwork, HOUR);
        run.await(PATIENCE);

        assertThat(entries).hasValue(2);
        assertThat(step(run, "nap").finishedAt()).isEqualTo(wakesAt);
    }

    @Test
    @Proves("SLEEP-1")
    void another_worker_sleeps_the_remaining_time() {
        var first = startNapping(steadwork, Duration.ofMillis(2500));
        var run = trigger();
        awaitStatus(run, SLEEPING);
        var wakesAt = run.info().times().due();
        first.close();

        startNapping(open(settings -> settings), HOUR);
        run.await(PATIENCE);

        assertThat(entries).hasValue(2);
        assertThat(run.info().finishedAt()).isAfterOrEqualTo(wakesAt);
        assertThat(step(run, "nap").finishedAt()).isEqualTo(wakesAt);
    }

    @Test
    @Proves("SLEEP-1")
    void a_run_that_is_woken_too_early_sleeps_on() {
        work(NAP, (ctx, input) -> {
            entries.incrementAndGet();
            ctx.sleep("nap", Duration.ofSeconds(3));
            return input;
        });
        var run = trigger();
        awaitStatus(run, SLEEPING);
        var wakesAt = run.info().times().due();

        run.cancel();
        run.retry();
        run.await(PATIENCE);

        assertThat(entries).hasValue(3);
        assertThat(run.info().finishedAt()).isAfterOrEqualTo(wakesAt);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("nap");
    }

    @Test
    @Proves("SLEEP-1")
    void the_same_name_in_a_loop_sleeps_each_time() {
        work(NAP, (ctx, input) -> {
            for (int i = 0; i < 5; i++) {
                ctx.sleep("tick", Duration.ofMillis(100));
            }
            return input;
        });

        var run = trigger();
        run.await(PATIENCE);

        assertThat(run.steps())
                .extracting(StepInfo::name)
                .containsExactly("tick", "tick#2", "tick#3", "tick#4", "tick#5");
        var wakings = run.steps().stream().map(StepInfo::finishedAt).toList();
        for (int i = 1; i < 5; i++) {
            assertThat(wakings.get(i)).isAfterOrEqualTo(wakings.get(i - 1).plusMillis(100));
        }
    }

    @Test
    @Proves("SLEEP-1")
    void milliseconds_work() {
        work(NAP, (ctx, input) -> {
            for (int i = 0; i < 20; i++) {
                ctx.sleep("blink", Duration.ofMillis(1));
                ctx.sleep("less", Duration.ofNanos(1));
            }
            return input;
        });

        var run = trigger();
        run.await(PATIENCE);

        assertThat(run.steps()).hasSize(40);
        var blink = step(run, "blink");
        assertThat(blink.finishedAt()).isAfterOrEqualTo(blink.startedAt().plusMillis(1));
    }

    @Test
    @Proves("SLEEP-1")
    void no_time_and_the_past_are_slept_at_once_and_recorded() {
        work(NAP, (ctx, input) -> {
            entries.incrementAndGet();
            ctx.sleep("zero", Duration.ZERO);
            ctx.sleepUntil("yesterday", ctx.now().minus(Duration.ofDays(1)));
            ctx.sleepUntil("long-ago", Instant.EPOCH);
            ctx.sleep("replay", Duration.ofMillis(1));
            return input;
        });

        var run = trigger();
        run.await(PATIENCE);

        assertThat(entries).hasValue(2);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("zero", "yesterday", "long-ago", "replay");
    }

    @Test
    @Proves("SLEEP-1")
    void a_time_to_wake_at_is_kept_to_the_microsecond() {
        var wakesAt = Instant.parse("2999-12-31T23:59:59.123456Z");
        work(NAP, (ctx, input) -> {
            ctx.sleepUntil("until", wakesAt.plusNanos(789));
            return input;
        });

        var run = trigger();
        awaitStatus(run, SLEEPING);

        assertThat(run.info().times().due()).isEqualTo(wakesAt);
    }

    @Test
    @Proves("SLEEP-1")
    void a_century_can_be_slept_but_not_eternity() {
        work(NAP, (ctx, years) -> {
            if (years > 0) {
                ctx.sleep("years", Duration.ofDays(365L * years));
            } else {
                ctx.sleep("eternity", Duration.ofSeconds(Long.MAX_VALUE));
            }
            return years;
        });

        var century = steadwork.workflow(NAP).trigger(100);
        awaitStatus(century, SLEEPING);
        assertThat(century.info().times().due()).isAfter(Instant.now().plus(Duration.ofDays(36_000)));

        assertThat(failureOf(steadwork.workflow(NAP).trigger(0)).type()).isEqualTo(InvalidArgument.class.getName());
    }

    @Test
    @Proves("SLEEP-2")
    void a_run_is_woken_by_its_timer_and_not_by_the_poll() {
        var patient = open(settings -> settings.pollInterval(Duration.ofMinutes(5)));
        var delays = new CopyOnWriteArrayList<Duration>();
        patient.worker()
                .handle(NAP, (ctx, input) -> {
                    ctx.sleep("nap", Duration.ofMillis(300));
                    delays.add(Duration.between(ctx.now(), Instant.now()));
                    return input;
                })
                .start();

        for (int i = 0; i < 10; i++) {
            patient.workflow(NAP).trigger(i).await(PATIENCE);
        }

        assertThat(Collections.min(delays)).isLessThan(Duration.ofMillis(100));
    }

    @Test
    @Proves({"V1", "WORKER-3"})
    void no_more_runs_than_the_limit_are_executed_at_once() {
        var now = new AtomicInteger();
        var most = new AtomicInteger();
        var tenAtOnce = new CyclicBarrier(10);
        steadwork
                .worker()
                .concurrency(10)
                .handle(NAP, (ctx, input) -> {
                    ctx.run("work", () -> {
                        most.accumulateAndGet(now.incrementAndGet(), Math::max);
                        tenAtOnce.await(60, TimeUnit.SECONDS);
                        now.decrementAndGet();
                    });
                    return input;
                })
                .start();

        triggerMany(100).forEach(run -> run.await(PATIENCE));

        assertThat(most).hasValue(10);
    }

    @Test
    @Proves({"V1", "SLEEP-1"})
    void more_runs_than_the_limit_sleep_at_the_same_time() {
        steadwork
                .worker()
                .concurrency(10)
                .handle(NAP, (ctx, input) -> {
                    ctx.sleep("nap", Duration.ofSeconds(3));
                    return input;
                })
                .start();

        var runs = triggerMany(100);
        runs.forEach(run -> run.await(PATIENCE));

        var infos = runs.stream().map(RunHandle::info).toList();
        var firstEnd =
                infos.stream().map(RunInfo::finishedAt).min(Instant::compareTo).orElseThrow();
        var lastStart =
                infos.stream().map(RunInfo::startedAt).max(Instant::compareTo).orElseThrow();
        assertThat(lastStart)
                .as("all have begun to sleep before the first wakes")
                .isBefore(firstEnd);
    }

    @Test
    @Proves({"V5", "SLEEP-2", "CLAIM-5"})
    void many_timers_of_the_same_second_are_each_claimed_once() throws InterruptedException {
        int timers = database == TestDatabase.POSTGRES ? 10_000 : 2_000;
        Map<RunId, Integer> executions = new ConcurrentHashMap<>();
        var allDone = new CountDownLatch(timers);
        steadwork.register(NAP);
        var due = Instant.now().plusSeconds(database == TestDatabase.POSTGRES ? 8 : 4);
        for (int from = 0; from < timers; from += 1000) {
            steadwork.workflow(NAP).startAt(due.plusMillis(from / 10)).triggerAll(numbers(1000));
        }
        for (int i = 0; i < 2; i++) {
            open(settings -> settings)
                    .worker()
                    .handle(NAP, (ctx, input) -> {
                        executions.merge(ctx.runId(), 1, Integer::sum);
                        allDone.countDown();
                        return input;
                    })
                    .start();
        }

        assertThat(allDone.await(60, TimeUnit.SECONDS)).isTrue();
        await().atMost(PATIENCE)
                .until(() -> steadwork.runs().status(RunStatus.COMPLETED).count() == timers);
        assertThat(executions).hasSize(timers);
        assertThat(executions.values()).containsOnly(1);
        for (var page = steadwork.runs().page(1000); ; page = page.next()) {
            assertThat(page.items()).allSatisfy(run -> {
                assertThat(run.lease().epoch()).isEqualTo(1);
                assertThat(run.startedAt()).isAfterOrEqualTo(due);
            });
            if (!page.hasNext()) {
                break;
            }
        }
    }

    private Worker startNapping(Steadwork engine, Duration duration) {
        return engine.worker()
                .handle(NAP, (ctx, input) -> {
                    entries.incrementAndGet();
                    ctx.sleep("nap", duration);
                    return input;
                })
                .start();
    }

    private RunHandle<Integer> trigger() {
        return steadwork.workflow(NAP).trigger(1);
    }

    private List<RunHandle<Integer>> triggerMany(int runs) {
        return steadwork.workflow(NAP).triggerAll(numbers(runs));
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }
}
