package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.SLEEPING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.KeyPolicy;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TriggerTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final RetryPolicy PATIENT =
            new RetryPolicy(7, Duration.ofMillis(30), 3.0, Duration.ofMinutes(2), 0.25, Set.of("java.io.IOException"));

    @BeforeEach
    void register() {
        steadwork.register(GREET);
    }

    @Test
    @Proves("TRIG-1")
    void a_trigger_returns_a_handle_before_anyone_executes_the_run() {
        var run = steadwork.workflow(GREET).trigger("Ada");

        assertThat(run.alreadyExisted()).isFalse();
        assertThat(run.status()).isEqualTo(PENDING);
        work(GREET, (ctx, name) -> "Hello " + name);
        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    @Proves("TRIG-1")
    void many_runs_of_one_workflow_each_have_their_own_input_and_result() {
        work(GREET, (ctx, name) -> "Hello " + name);

        var runs = IntStream.range(0, 20)
                .mapToObj(i -> steadwork.workflow(GREET).trigger("guest " + i))
                .toList();

        assertThat(runs).extracting(RunHandle::id).doesNotHaveDuplicates();
        for (int i = 0; i < runs.size(); i++) {
            assertThat(runs.get(i).await(PATIENCE)).isEqualTo("Hello guest " + i);
        }
    }

    @Test
    @Proves("RUN-1")
    void ids_sort_in_the_order_of_the_triggers() {
        var ids = IntStream.range(0, 50)
                .mapToObj(i -> steadwork.workflow(GREET).trigger("Ada").id())
                .toList();

        assertThat(ids).isSorted().doesNotHaveDuplicates();
        assertThat(ids).allMatch(id -> id.uuid().version() == 7);
    }

    @Test
    @Proves("TRIG-1")
    void a_prepared_trigger_can_be_used_again_and_its_options_do_not_leak() {
        var prepared = steadwork.workflow(GREET).tag("team", "a");

        var changed = prepared.tag("more", "b").priority(9).trigger("Ada").info();
        var first = prepared.trigger("Ada").info();
        var second = prepared.trigger("Ada").info();

        assertThat(changed.tags()).isEqualTo(Map.of("team", "a", "more", "b"));
        assertThat(List.of(first, second)).allSatisfy(info -> {
            assertThat(info.tags()).isEqualTo(Map.of("team", "a"));
            assertThat(info.priority()).isZero();
        });
        assertThat(second.id()).isNotEqualTo(first.id());
    }

    @Test
    @Proves({"RUN-1", "TRIG-8"})
    void a_run_without_options_has_the_defaults() {
        var info = steadwork.workflow(GREET).trigger("Ada").info();

        assertThat(info.namespace()).isEqualTo("default");
        assertThat(info.type()).isEqualTo("greet");
        assertThat(info.queue()).isEqualTo("greet");
        assertThat(info.priority()).isZero();
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.retry()).isEqualTo(RetryPolicy.defaults());
        assertThat(info.tags()).isEmpty();
        assertThat(info.version()).isNull();
        assertThat(info.externalId()).isNull();
        assertThat(info.idempotencyKey()).isNull();
        assertThat(info.parent()).isNull();
        assertThat(info.times().deadline()).isNull();
        assertThat(info.startedAt()).isNull();
        assertThat(info.finishedAt()).isNull();
        assertThat(info.lastError()).isNull();
    }

    @Test
    @Proves("TRIG-8")
    void a_run_with_a_delay_waits_that_long_after_it_was_accepted() {
        var run = steadwork.workflow(GREET).delay(HOUR).trigger("Ada");

        assertThat(run.status()).isEqualTo(SLEEPING);
        assertThat(run.info().times().due()).isEqualTo(run.info().createdAt().plus(HOUR));
    }

    @Test
    @Proves("TRIG-8")
    void a_delayed_run_is_not_started_early_and_is_started_by_itself() {
        work(GREET, (ctx, name) -> "Hello " + name);

        var run = steadwork.workflow(GREET).delay(Duration.ofMillis(700)).trigger("Ada");

        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
        assertThat(run.info().startedAt())
                .isAfterOrEqualTo(run.info().createdAt().plus(Duration.ofMillis(700)));
    }

    @Test
    @Proves("TRIG-8")
    void a_delay_of_zero_and_a_start_in_the_past_are_ready_now() {
        var atOnce = steadwork.workflow(GREET).delay(Duration.ZERO).trigger("Ada");
        var late = steadwork.workflow(GREET).startAt(Instant.now().minus(HOUR)).trigger("Ada");

        assertThat(List.of(atOnce.status(), late.status())).containsOnly(PENDING);
    }

    @Test
    @Proves("TRIG-8")
    void a_run_with_a_start_time_waits_for_it() {
        var time = Instant.now().plus(HOUR).truncatedTo(ChronoUnit.MILLIS);

        var run = steadwork.workflow(GREET).startAt(time).trigger("Ada");

        assertThat(run.status()).isEqualTo(SLEEPING);
        assertThat(run.info().times().due()).isEqualTo(time);
    }

    @Test
    @Proves("TRIG-8")
    void of_a_delay_and_a_start_time_the_one_said_last_counts() {
        var delayed =
                steadwork.workflow(GREET).startAt(Instant.now().plus(HOUR)).delay(Duration.ZERO);
        var timed = steadwork.workflow(GREET).delay(HOUR).startAt(Instant.now().minus(HOUR));

        assertThat(delayed.trigger("Ada").status()).isEqualTo(PENDING);
        assertThat(timed.trigger("Ada").status()).isEqualTo(PENDING);
    }

    @Test
    @Proves({"RUN-1", "TRIG-8"})
    void every_option_is_kept_with_the_run() {
        var info = steadwork
                .workflow(GREET)
                .priority(-3)
                .tag("customer", "42")
                .tag("note", "")
                .version("v2")
                .externalId("order-7")
                .retry(PATIENT)
                .idempotencyKey("order-7/greet")
                .keyPolicy(KeyPolicy.WHILE_ACTIVE)
                .queue("vip")
                .trigger("Ada")
                .info();

        assertThat(info.priority()).isEqualTo(-3);
        assertThat(info.tags()).isEqualTo(Map.of("customer", "42", "note", ""));
        assertThat(info.version()).isEqualTo("v2");
        assertThat(info.externalId()).isEqualTo("order-7");
        assertThat(info.retry()).isEqualTo(PATIENT);
        assertThat(info.idempotencyKey()).isEqualTo("order-7/greet");
        assertThat(info.keyPolicy()).isEqualTo(KeyPolicy.WHILE_ACTIVE);
        assertThat(info.queue()).isEqualTo("vip");
    }

    @Test
    @Proves("TRIG-8")
    void the_extreme_priorities_are_kept() {
        var lowest = steadwork.workflow(GREET).priority(Integer.MIN_VALUE).trigger("Ada");
        var highest = steadwork.workflow(GREET).priority(Integer.MAX_VALUE).trigger("Ada");

        assertThat(lowest.info().priority()).isEqualTo(Integer.MIN_VALUE);
        assertThat(highest.info().priority()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    @Proves({"RUN-1", "TRIG-8"})
    void an_external_id_need_not_be_unique() {
        var first = steadwork.workflow(GREET).externalId("order-7").trigger("Ada");
        var second = steadwork.workflow(GREET).externalId("order-7").trigger("Ada");

        assertThat(second.alreadyExisted()).isFalse();
        assertThat(second.id()).isNotEqualTo(first.id());
    }

    @Test
    @Proves("TRIG-8")
    void a_deadline_is_a_time_or_a_while_after_the_run_was_accepted() {
        var time = Instant.now().plus(HOUR).truncatedTo(ChronoUnit.MILLIS);

        var fixed = steadwork.workflow(GREET).deadline(time).trigger("Ada").info();
        var relative = steadwork.workflow(GREET).deadline(HOUR).trigger("Ada").info();

        assertThat(fixed.times().deadline()).isEqualTo(time);
        assertThat(relative.times().deadline()).isEqualTo(relative.createdAt().plus(HOUR));
    }

    @Test
    @Proves("TRIG-8")
    void the_timeout_of_a_workflow_counts_from_when_the_run_may_start() {
        var quick = GREET.timeout(Duration.ofMinutes(10));

        var now = steadwork.workflow(quick).trigger("Ada").info();
        var later = steadwork.workflow(quick).delay(HOUR).trigger("Ada").info();
        var own = steadwork.workflow(quick).deadline(HOUR).trigger("Ada").info();

        assertThat(now.times().deadline()).isEqualTo(now.createdAt().plus(Duration.ofMinutes(10)));
        assertThat(later.times().deadline()).isEqualTo(later.createdAt().plus(Duration.ofMinutes(70)));
        assertThat(own.times().deadline()).isEqualTo(own.createdAt().plus(HOUR));
    }

    @Test
    @Proves({"TRIG-1", "TRIG-5"})
    void a_run_triggered_by_name_alone_has_the_registered_defaults() {
        steadwork.register(GREET.onQueue("lobby")
                .retry(PATIENT)
                .keyPolicy(KeyPolicy.WHILE_ACTIVE)
                .timeout(HOUR));

        var run = steadwork.workflow("greet").idempotencyKey("k").trigger("Ada");

        var info = run.info();
        assertThat(info.queue()).isEqualTo("lobby");
        assertThat(info.retry()).isEqualTo(PATIENT);
        assertThat(info.keyPolicy()).isEqualTo(KeyPolicy.WHILE_ACTIVE);
        assertThat(info.times().deadline()).isEqualTo(info.createdAt().plus(HOUR));
        work(GREET.onQueue("lobby"), (ctx, name) -> "Hello " + name);
        assertThat(run.await(PATIENCE)).isEqualTo("Hello Ada");
    }
}
