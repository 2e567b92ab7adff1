package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepOptions;
import dev.steadwork.StepStatus;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StepTest extends EngineTest {
    private static final Workflow<String, String> ORDER = Workflow.define("order", String.class, String.class);
    private static final TypeRef<List<Item>> ITEMS = new TypeRef<>() {};

    private final Gate gate = new Gate();

    record Item(String name, int count) {}

    @AfterEach
    void letGo() {
        gate.open();
    }

    @Test
    @Proves("STEP-1")
    void a_finished_step_is_not_executed_again() {
        var charges = new AtomicInteger();
        var entries = new AtomicInteger();
        work(ORDER, (ctx, order) -> {
            entries.incrementAndGet();
            var payment = ctx.step("charge", String.class, step -> "payment-" + charges.incrementAndGet());
            replay(ctx);
            return payment;
        });

        assertThat(trigger("o-1").await(PATIENCE)).isEqualTo("payment-1");
        assertThat(charges).hasValue(1);
        assertThat(entries).hasValue(2);
    }

    @Test
    @Proves("STEP-1")
    void a_replay_returns_values_with_type_arguments_as_they_were() {
        var seen = new CopyOnWriteArrayList<List<Item>>();
        work(ORDER, (ctx, order) -> {
            seen.add(ctx.step("items", ITEMS, step -> List.of(new Item("pen", 2), new Item("ink", 1))));
            replay(ctx);
            return order;
        });

        trigger("o-1").await(PATIENCE);

        assertThat(seen).hasSize(2).containsOnly(List.of(new Item("pen", 2), new Item("ink", 1)));
    }

    @Test
    @Proves("STEP-1")
    void a_step_that_returned_null_is_not_executed_again() {
        var executed = new AtomicInteger();
        var seen = new CopyOnWriteArrayList<String>();
        work(ORDER, (ctx, order) -> {
            var found = ctx.step("find", String.class, step -> {
                executed.incrementAndGet();
                return null;
            });
            ctx.run("notify", executed::incrementAndGet);
            seen.add(String.valueOf(found));
            replay(ctx);
            return order;
        });

        trigger("o-1").await(PATIENCE);

        assertThat(executed).hasValue(2);
        assertThat(seen).containsExactly("null", "null");
    }

    @Test
    @Proves("STEP-2")
    void a_name_used_again_is_numbered_and_never_confused_with_the_first() {
        var executed = new AtomicInteger();
        work(ORDER, (ctx, order) -> {
            var results = new ArrayList<String>();
            for (var item : List.of("a", "b", "c")) {
                results.add(ctx.step("pack", String.class, step -> item + executed.incrementAndGet()));
                replay(ctx);
            }
            return String.join(" ", results);
        });

        var run = trigger("o-1");

        assertThat(run.await(PATIENCE)).isEqualTo("a1 b2 c3");
        assertThat(run.steps())
                .extracting(StepInfo::name)
                .containsExactly("pack", "replay", "pack#2", "replay#2", "pack#3", "replay#3");
    }

    @Test
    @Proves("STEP-2")
    void every_durable_call_takes_the_next_position_in_call_order() {
        work(ORDER, (ctx, order) -> {
            ctx.run("z", () -> {});
            ctx.sleep("y", Duration.ofMillis(1));
            ctx.run("x", () -> {});
            ctx.sleep("w", Duration.ZERO);
            ctx.run("z", () -> {});
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("z", "y", "x", "w", "z#2");
        assertThat(run.steps()).extracting(StepInfo::position).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    @Proves("STEP-2")
    void a_name_that_looks_like_a_numbered_one_is_not_confused_with_it() {
        var keys = new CopyOnWriteArrayList<String>();
        work(ORDER, (ctx, order) -> {
            for (var name : List.of("pack", "pack", "pack#2", "pack#2")) {
                ctx.run(name, step -> keys.add(step.idempotencyKey()));
            }
            replay(ctx);
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        assertThat(keys).hasSize(4).doesNotHaveDuplicates();
        assertThat(run.steps())
                .extracting(StepInfo::name)
                .containsExactly("pack", "pack#2", "pack#2#1", "pack#2#2", "replay");
    }

    @Test
    @Proves("STEP-2")
    void an_idempotency_key_is_the_same_for_every_attempt_and_differs_for_every_step() {
        var keys = new CopyOnWriteArrayList<String>();
        work(ORDER, (ctx, order) -> {
            for (int i = 0; i < 2; i++) {
                ctx.run("charge", attempts(2), step -> {
                    keys.add(step.idempotencyKey());
                    failIf(step.attempt() == 1);
                });
            }
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        assertThat(keys)
                .containsExactly(
                        run.id() + "/charge", run.id() + "/charge", run.id() + "/charge#2", run.id() + "/charge#2");
    }

    @Test
    @Proves("STEP-3")
    void a_step_is_durable_before_it_returns() {
        var elsewhere = open(settings -> settings);
        work(ORDER, (ctx, order) -> {
            ctx.step("charge", String.class, step -> "paid");
            var charge = step(elsewhere.run(ctx.runId()), "charge");
            return charge.status() + " " + text(charge);
        });

        assertThat(trigger("o-1").await(PATIENCE)).isEqualTo("COMPLETED \"paid\"");
    }

    @Test
    @Proves("STEP-6")
    void a_step_record_tells_what_was_done_when_and_with_what_outcome() {
        work(ORDER, (ctx, order) -> {
            ctx.step("charge", String.class, StepOptions.defaults().input(new Item("pen", 2)), step -> "paid");
            ctx.sleep("cool-off", Duration.ofMillis(50));
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        var charge = step(run, "charge");
        assertThat(charge.kind()).isEqualTo(StepKind.FUNCTION);
        assertThat(charge.status()).isEqualTo(StepStatus.COMPLETED);
        assertThat(charge.attempt()).isEqualTo(1);
        assertThat(charge.input()).hasToString("{\"name\":\"pen\",\"count\":2}");
        assertThat(text(charge)).isEqualTo("\"paid\"");
        assertThat(charge.error()).isNull();
        assertThat(charge.failedAttempts()).isEmpty();
        assertThat(charge.finishedAt()).isBetween(charge.startedAt(), run.info().finishedAt());
        var sleep = step(run, "cool-off");
        assertThat(sleep.kind()).isEqualTo(StepKind.SLEEP);
        assertThat(sleep.status()).isEqualTo(StepStatus.COMPLETED);
        assertThat(sleep.finishedAt()).isAfterOrEqualTo(sleep.startedAt().plusMillis(50));
    }

    @Test
    @Proves("STEP-6")
    void failed_attempts_are_kept_with_number_error_and_times() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(3), step -> {
                if (step.attempt() < 3) {
                    throw new IllegalStateException("declined " + step.attempt());
                }
            });
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        var charge = step(run, "charge");
        assertThat(charge.attempt()).isEqualTo(3);
        assertThat(charge.failedAttempts())
                .extracting(failed -> entry(failed.number(), failed.error().message()))
                .containsExactly(entry(1, "declined 1"), entry(2, "declined 2"));
        assertThat(charge.failedAttempts()).allSatisfy(failed -> {
            assertThat(failed.error().type()).isEqualTo(IllegalStateException.class.getName());
            assertThat(failed.error().stackTrace()).contains("StepTest");
            assertThat(failed.finishedAt()).isBetween(failed.startedAt(), charge.startedAt());
        });
    }

    @Test
    @Proves("STEP-6")
    void the_last_hundred_failed_attempts_are_kept() {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", attempts(200), step -> failIf(step.attempt() <= 105));
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        assertThat(step(run, "charge").failedAttempts())
                .extracting(StepInfo.FailedAttempt::number)
                .containsExactlyElementsOf(IntStream.rangeClosed(6, 105).boxed().toList());
    }

    @Test
    @Proves("STEP-12")
    void time_and_chance_are_the_same_on_replay() {
        var entries = new CopyOnWriteArrayList<List<Object>>();
        work(ORDER, (ctx, order) -> {
            var seen = new ArrayList<>(timeAndChance(ctx));
            entries.add(seen);
            ctx.run("charge", () -> {});
            seen.addAll(timeAndChance(ctx));
            ctx.sleep("nap", Duration.ofMillis(1));
            seen.addAll(timeAndChance(ctx));
            replay(ctx);
            seen.addAll(timeAndChance(ctx));
            return order;
        });

        trigger("o-1").await(PATIENCE);

        assertThat(entries).hasSize(3);
        assertThat(entries.get(2)).startsWith(entries.get(0).toArray());
        assertThat(entries.get(2)).startsWith(entries.get(1).toArray());
    }

    @Test
    @Proves("STEP-12")
    void time_goes_on_with_every_durable_call() {
        var times = new CopyOnWriteArrayList<Instant>();
        work(ORDER, (ctx, order) -> {
            times.clear();
            times.add(ctx.now());
            ctx.run("charge", () -> {});
            times.add(ctx.now());
            ctx.sleep("nap", Duration.ofMillis(200));
            times.add(ctx.now());
            return order;
        });

        var run = trigger("o-1");
        run.await(PATIENCE);

        assertThat(times.get(0)).isEqualTo(run.info().startedAt());
        assertThat(times.get(1)).isEqualTo(step(run, "charge").finishedAt());
        assertThat(times.get(2))
                .isEqualTo(step(run, "nap").finishedAt())
                .isAfterOrEqualTo(times.get(1).plusMillis(200));
    }

    @Test
    @Proves("STEP-12")
    void chance_differs_from_call_to_call_and_from_run_to_run() {
        work(
                ORDER,
                (ctx, order) -> "%s %s %d %d"
                        .formatted(
                                ctx.randomUuid(),
                                ctx.randomUuid(),
                                ctx.random().nextLong(),
                                ctx.random().nextLong()));

        var first = trigger("o-1").await(PATIENCE).split(" ");
        var second = trigger("o-2").await(PATIENCE).split(" ");

        assertThat(first).doesNotHaveDuplicates();
        assertThat(second).doesNotHaveDuplicates().doesNotContain(first);
        assertThat(UUID.fromString(first[0]).version()).isEqualTo(4);
    }

    @Test
    @Proves("STEP-13")
    void a_long_step_is_visible_as_running() throws InterruptedException {
        work(ORDER, (ctx, order) -> {
            ctx.run("charge", () -> {});
            ctx.run("ship", gate::pass);
            return order;
        });

        var run = trigger("o-1");
        gate.awaitReached();
        await().atMost(PATIENCE).until(() -> run.info().runningStep() != null);

        var running = run.info().runningStep();
        assertThat(running.name()).isEqualTo("ship");
        assertThat(running.since()).isBetween(run.info().startedAt(), Instant.now());
        assertThat(run.steps())
                .extracting(step -> entry(step.name(), step.status()))
                .containsExactly(entry("charge", StepStatus.COMPLETED), entry("ship", StepStatus.RUNNING));

        gate.open();
        run.await(PATIENCE);
        assertThat(run.info().runningStep()).isNull();
        assertThat(step(run, "ship").status()).isEqualTo(StepStatus.COMPLETED);
    }

    private RunHandle<String> trigger(String order) {
        return steadwork.workflow(ORDER).trigger(order);
    }

    /** Leaves the handler for a moment, so that it is entered again from the top. */
    private static void replay(WorkflowContext ctx) {
        ctx.sleep("replay", Duration.ofMillis(1));
    }

    private static List<Object> timeAndChance(WorkflowContext ctx) {
        return Arrays.asList(
                ctx.now(),
                ctx.randomUuid(),
                ctx.random().nextLong(),
                ctx.random().nextGaussian());
    }

    private static void failIf(boolean broken) {
        if (broken) {
            throw new IllegalStateException("broken");
        }
    }

    private static String text(StepInfo step) {
        return new String(step.output().bytes(), StandardCharsets.UTF_8);
    }
}
