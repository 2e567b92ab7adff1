package dev.steadwork.store;

import static dev.steadwork.ScheduleFiring.Outcome.BUFFERED;
import static dev.steadwork.ScheduleFiring.Outcome.FAILED;
import static dev.steadwork.ScheduleFiring.Outcome.FIRED;
import static dev.steadwork.ScheduleFiring.Outcome.SKIPPED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.Conflict;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.OverlapPolicy;
import dev.steadwork.Payload;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.store.FirePlan.Decision;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Schedules and their firing. */
@Proves("SCHED-2")
interface ScheduleRules extends StoreRules {
    Instant SLOT = Instant.parse("2026-01-01T00:00:00Z");
    Instant LATER = Instant.parse("2226-01-01T00:00:00Z");
    NextSlot DUE = new NextSlot(SLOT, SLOT);
    NextSlot NOT_DUE = new NextSlot(LATER, LATER);

    /** Fires the next slot, whatever the policy says, and none after it. */
    FirePlan.Planner FIRE = (schedule, now) -> plan(NOT_DUE, decision(schedule.nextSlot(), FIRED));

    @Test
    default void a_firing_creates_the_run_and_its_record_and_advances() {
        create("nightly", settings(OverlapPolicy.ALLOW), DUE);

        assertThat(fire(FIRE)).isEqualTo(1);

        var firing = firings("nightly").get(0);
        assertThat(firing.outcome()).isEqualTo(FIRED);
        assertThat(firing.cause()).isEqualTo(ScheduleFiring.Cause.CRON);
        assertThat(firing.slot()).isEqualTo(SLOT);
        var run = info(firing.run());
        assertThat(run.type()).isEqualTo(TYPE);
        assertThat(run.status()).isEqualTo(RunStatus.PENDING);
        assertThat(run.externalId()).isEqualTo("schedule-nightly");
        assertThat(run.idempotencyKey()).isEqualTo("schedule-nightly@2026-01-01T00:00:00Z");
        assertThat(run.version()).isEqualTo("v7");
        assertThat(run.priority()).isEqualTo(4);
        assertThat(run.tags()).isEqualTo(Map.of("team", "sales"));
        assertThat(run.queue()).isEqualTo("lane");
        assertThat(store().input(run.id()).bytes()).asString().isEqualTo("{\"a\":1}");
        var schedule = schedule("nightly");
        assertThat(schedule.nextSlot()).isEqualTo(LATER);
        assertThat(schedule.state().lastSlot()).isEqualTo(SLOT);
        assertThat(schedule.lastRun()).isEqualTo(run.id());
        assertThat(fire(FIRE)).as("nothing is due any more").isZero();
    }

    @Test
    default void the_outlook_tells_when_the_next_one_is_due() {
        assertThat(outlook()).isEqualTo(new ScheduleOutlook(null, Set.of()));

        create("far", settings(OverlapPolicy.ALLOW), NOT_DUE);
        create("off", settings(OverlapPolicy.ALLOW), NextSlot.NONE);
        assertThat(outlook().untilNext()).isGreaterThan(Duration.ofDays(36_500));
        assertThat(outlook().isDue()).isFalse();

        var soon = store().schedules().now().plusSeconds(50);
        create("soon", settings(OverlapPolicy.ALLOW), new NextSlot(soon, soon));
        assertThat(outlook().untilNext()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(51));

        create("now", settings(OverlapPolicy.ALLOW), DUE);
        assertThat(outlook().isDue()).isTrue();
    }

    @Test
    default void what_is_not_due_is_not_fired() {
        create("far", settings(OverlapPolicy.ALLOW), NOT_DUE);
        create("off", settings(OverlapPolicy.ALLOW), NextSlot.NONE);

        assertThat(fire(FIRE)).isZero();
    }

    @Test
    default void those_due_first_are_fired_first() {
        create("second", settings(OverlapPolicy.ALLOW), new NextSlot(SLOT.plusSeconds(1), SLOT.plusSeconds(1)));
        create("first", settings(OverlapPolicy.ALLOW), DUE);

        assertThat(store().schedules().fire(namespace(), FIRE, 1)).isEqualTo(1);

        assertThat(firings("first")).hasSize(1);
        assertThat(firings("second")).isEmpty();
    }

    @RepeatedTest(3)
    default void schedulers_that_meet_fire_each_slot_once() throws Exception {
        for (int i = 0; i < 40; i++) {
            create("s-" + i, settings(OverlapPolicy.ALLOW), DUE);
        }
        FirePlan.Planner tenSlots = (schedule, now) -> {
            var next = schedule.nextSlot().plusSeconds(60);
            var last = next.isAfter(SLOT.plusSeconds(9 * 60));
            return plan(last ? NOT_DUE : new NextSlot(next, next), decision(schedule.nextSlot(), FIRED));
        };

        inThreads(6, () -> {
            do {
                store().schedules().fire(namespace(), tenSlots, 7);
            } while (outlook().isDue());
            return List.of();
        });

        for (int i = 0; i < 40; i++) {
            assertThat(firings("s-" + i)).hasSize(10).allMatch(firing -> firing.outcome() == FIRED);
        }
        assertThat(store().count(namespace(), everything())).isEqualTo(400);
    }

    @Test
    default void a_schedule_that_cannot_be_planned_is_stopped_and_the_others_go_on() {
        create("a", settings(OverlapPolicy.ALLOW), DUE);
        create("broken", settings(OverlapPolicy.ALLOW), DUE);
        create("c", settings(OverlapPolicy.ALLOW), DUE);

        assertThat(fire((schedule, now) -> {
                    if (schedule.id().equals("broken")) {
                        throw new IllegalArgumentException("no such cron");
                    }
                    return FIRE.plan(schedule, now);
                }))
                .isEqualTo(3);

        assertThat(firings("a")).hasSize(1);
        assertThat(firings("c")).hasSize(1);
        assertThat(firings("broken")).isEmpty();
        assertThat(schedule("broken").lastError()).isEqualTo("no such cron");
        assertThat(schedule("broken").nextSlot()).isNull();
        assertThat(outlook().isDue()).isFalse();
    }

    @Test
    default void a_schedule_that_spoils_the_transaction_is_stopped_and_the_others_go_on() {
        create("a", settings(OverlapPolicy.ALLOW), DUE);
        create("spoilt", settings(OverlapPolicy.ALLOW), DUE);
        create("c", settings(OverlapPolicy.ALLOW), DUE);
        FirePlan.Planner spoiling = (schedule, now) -> schedule.id().equals("spoilt")
                ? plan(NOT_DUE, decision(SLOT, FIRED), decision(LATER, null))
                : FIRE.plan(schedule, now);

        assertThat(fire(spoiling)).isEqualTo(3);

        assertThat(firings("a")).hasSize(1);
        assertThat(firings("c")).hasSize(1);
        assertThat(firings("spoilt")).isEmpty();
        assertThat(schedule("spoilt").lastError()).isNotNull();
        assertThat(store().count(namespace(), everything()))
                .as("nothing half-done")
                .isEqualTo(2);
    }

    @Test
    default void a_schedule_of_an_unknown_workflow_records_why_and_advances() {
        var demanding = new ScheduleSettings(
                new ScheduleInfo.Target(TYPE, TriggerCheck.REQUIRE_ONLINE, null, 0, null, Map.of()),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, OverlapPolicy.ALLOW, Duration.ZERO),
                true,
                Payload.NONE);
        register(Workflow.define(TYPE, String.class, String.class));
        create("lonely", demanding, DUE);
        create("fine", settings(OverlapPolicy.ALLOW), DUE);

        fire(FIRE);

        var firing = firings("lonely").get(0);
        assertThat(firing.outcome()).isEqualTo(FAILED);
        assertThat(firing.run()).isNull();
        assertThat(firing.error()).contains(TYPE, "online");
        assertThat(schedule("lonely").lastError()).isEqualTo(firing.error());
        assertThat(schedule("lonely").nextSlot()).isEqualTo(LATER);
        assertThat(firings("fine")).hasSize(1);

        registerWorker(List.of(TYPE), List.of());
        update("lonely", demanding, DUE);
        assertThat(schedule("lonely").lastError()).isNull();
        fire(FIRE);
        assertThat(firings("lonely").get(0).outcome()).isEqualTo(FIRED);
    }

    @Test
    default void a_workflow_that_must_be_registered_is_looked_for() {
        var demanding = new ScheduleSettings(
                new ScheduleInfo.Target("unknown", TriggerCheck.REQUIRE_REGISTERED, null, 0, null, Map.of()),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, OverlapPolicy.ALLOW, Duration.ZERO),
                true,
                Payload.NONE);

        assertThatThrownBy(() -> create("s", demanding, DUE))
                .isInstanceOf(PreconditionFailed.class)
                .hasMessageContaining("unknown");
        assertThat(store().schedules().find(namespace(), "s")).isNull();
    }

    @Test
    @Proves("SCHED-3")
    default void the_planner_hears_whether_the_last_run_is_active() {
        create("s", settings(OverlapPolicy.SKIP), DUE);
        var heard = new ArrayList<Boolean>();
        FirePlan.Planner listening = (schedule, now) -> {
            heard.add(schedule.active());
            return plan(DUE, decision(SLOT.plusSeconds(heard.size()), FIRED));
        };

        fire(listening);
        fire(listening);
        store().cancel(schedule("s").lastRun());
        fire(listening);
        store().delete(schedule("s").lastRun(), "test");
        fire(listening);

        assertThat(heard).containsExactly(false, true, false, false);
    }

    @Test
    @Proves("SCHED-3")
    default void a_buffered_slot_is_due_when_the_last_run_has_ended() {
        create("s", settings(OverlapPolicy.BUFFER_ONE), DUE);
        var waiting = SLOT.plusSeconds(60);
        fire((schedule, now) ->
                new FirePlan(List.of(decision(SLOT, FIRED), decision(waiting, BUFFERED)), NOT_DUE, waiting, false));
        var first = schedule("s").lastRun();
        assertThat(outlook().awaited()).containsExactly(first);
        assertThat(outlook().isDue()).isFalse();
        assertThat(fire(FIRE)).isZero();

        store().cancel(first);

        assertThat(outlook().isDue()).isTrue();
        fire((schedule, now) -> {
            assertThat(schedule.bufferedSlot()).isEqualTo(waiting);
            assertThat(schedule.active()).isFalse();
            return plan(NOT_DUE, decision(waiting, FIRED));
        });
        assertThat(firings("s")).extracting(ScheduleFiring::outcome).containsExactly(FIRED, FIRED);
        assertThat(outlook().awaited()).isEmpty();
        assertThat(outlook().isDue()).isFalse();
    }

    @Test
    @Proves("SCHED-3")
    default void a_buffered_slot_is_skipped_when_the_schedule_no_longer_buffers() {
        for (var id : List.of("updated", "deleted", "kept")) {
            create(id, settings(OverlapPolicy.BUFFER_ONE), DUE);
        }
        fire((schedule, now) -> new FirePlan(
                List.of(decision(SLOT, FIRED), decision(SLOT.plusSeconds(60), BUFFERED)),
                NOT_DUE,
                SLOT.plusSeconds(60),
                false));

        update("updated", settings(OverlapPolicy.SKIP), NOT_DUE);
        update("kept", settings(OverlapPolicy.BUFFER_ONE), NOT_DUE);
        store().schedules().delete(namespace(), "deleted");

        assertThat(firings("updated").get(0).outcome()).isEqualTo(SKIPPED);
        assertThat(firings("deleted").get(0).outcome()).isEqualTo(SKIPPED);
        assertThat(firings("kept").get(0).outcome()).isEqualTo(BUFFERED);
        assertThat(outlook().awaited()).hasSize(1);
    }

    @Test
    @Proves("SCHED-3")
    default void the_last_run_is_cancelled_if_the_plan_says_so() {
        create("s", settings(OverlapPolicy.CANCEL_RUNNING), DUE);
        FirePlan.Planner cancelling = (schedule, now) -> new FirePlan(
                List.of(decision(schedule.nextSlot(), FIRED)),
                new NextSlot(schedule.nextSlot().plusSeconds(1), SLOT),
                null,
                schedule.active());
        fire(cancelling);
        var first = schedule("s").lastRun();

        fire(cancelling);

        assertThat(status(first)).isEqualTo(RunStatus.CANCELLED);
        assertThat(status(schedule("s").lastRun())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    @Proves("SCHED-3")
    default void the_last_run_goes_on_if_none_takes_its_place() {
        FirePlan.Planner cancelling = (schedule, now) ->
                new FirePlan(List.of(decision(schedule.nextSlot(), FIRED)), DUE, null, schedule.active());
        create("same slot", settings(OverlapPolicy.CANCEL_RUNNING), DUE);
        create("refused", settings(OverlapPolicy.CANCEL_RUNNING), DUE);
        fire(cancelling);
        update("refused", demanding("unknown", TriggerCheck.REQUIRE_ONLINE), new NextSlot(SLOT.plusSeconds(60), SLOT));

        fire(cancelling);

        assertThat(status(schedule("same slot").lastRun())).isEqualTo(RunStatus.PENDING);
        assertThat(firings("refused").get(0).outcome()).isEqualTo(FAILED);
        assertThat(status(schedule("refused").lastRun())).isEqualTo(RunStatus.PENDING);
    }

    @Test
    default void nothing_is_fired_or_lost_while_the_namespace_is_disabled() {
        create("s", settings(OverlapPolicy.ALLOW), DUE);
        store().createNamespace(NamespaceInfo.defaults(namespace()));
        store().enableNamespace(namespace(), false);

        assertThatThrownBy(() -> fire(FIRE))
                .isInstanceOf(PreconditionFailed.class)
                .hasMessageContaining("disabled");
        assertThat(firings("s")).isEmpty();
        assertThat(schedule("s").nextSlot()).isEqualTo(SLOT);

        store().enableNamespace(namespace(), true);
        assertThat(fire(FIRE)).isEqualTo(1);
        assertThat(firings("s").get(0).outcome()).isEqualTo(FIRED);
    }

    @Test
    default void a_slot_whose_run_exists_is_not_run_again() {
        create("s", settings(OverlapPolicy.ALLOW), DUE);
        store().schedules().backfill(namespace(), "s", List.of(SLOT));

        fire(FIRE);

        assertThat(store().count(namespace(), everything())).isEqualTo(1);
        assertThat(firings("s")).singleElement().matches(firing -> firing.cause() == ScheduleFiring.Cause.BACKFILL);
    }

    @Test
    @Proves("SCHED-4")
    default void an_update_counts_only_for_the_revision_it_was_made_for() {
        create("s", settings(OverlapPolicy.ALLOW), DUE);
        var first = schedule("s");

        assertThat(store().schedules().update(namespace(), first, settings(OverlapPolicy.SKIP), NOT_DUE))
                .isTrue();
        assertThat(store().schedules().update(namespace(), first, settings(OverlapPolicy.ALLOW), DUE))
                .isFalse();

        assertThat(schedule("s").rules().overlap()).isEqualTo(OverlapPolicy.SKIP);
        assertThat(schedule("s").nextSlot()).isEqualTo(LATER);
        assertThatThrownBy(() -> create("s", settings(OverlapPolicy.ALLOW), DUE))
                .isInstanceOf(Conflict.class);
    }

    @Test
    @Proves("SCHED-4")
    default void an_update_does_not_bring_back_a_slot_that_was_fired_meanwhile() {
        create("s", settings(OverlapPolicy.CANCEL_RUNNING), DUE);
        var seen = schedule("s");
        fire(FIRE);

        assertThat(store().schedules().update(namespace(), seen, settings(OverlapPolicy.CANCEL_RUNNING), DUE))
                .isFalse();

        assertThat(schedule("s").nextSlot()).isEqualTo(LATER);
    }

    @Test
    @Proves("SCHED-4")
    default void a_window_that_is_refused_is_not_filled_at_all() {
        register(Workflow.define(TYPE, String.class, String.class));
        var demanding = new ScheduleSettings(
                new ScheduleInfo.Target(TYPE, TriggerCheck.REQUIRE_ONLINE, null, 0, null, Map.of()),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, OverlapPolicy.ALLOW, Duration.ZERO),
                true,
                Payload.NONE);
        create("s", demanding, NOT_DUE);

        var results = store().schedules().backfill(namespace(), "s", List.of(SLOT, SLOT.plusSeconds(60)));

        assertThat(results).hasSize(2).noneMatch(TriggerResult::accepted);
        assertThat(firings("s")).isEmpty();
        assertThat(store().schedules().trigger(namespace(), "s").accepted()).isFalse();
        assertThat(firings("s")).isEmpty();
    }

    private static FirePlan plan(NextSlot next, Decision... decisions) {
        return new FirePlan(List.of(decisions), next, null, false);
    }

    private static Decision decision(@Nullable Instant slot, ScheduleFiring.@Nullable Outcome outcome) {
        return new Decision(slot, outcome);
    }

    private ScheduleSettings demanding(String type, TriggerCheck check) {
        register(Workflow.define(type, String.class, String.class));
        return new ScheduleSettings(
                new ScheduleInfo.Target(type, check, null, 0, null, Map.of()),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, OverlapPolicy.CANCEL_RUNNING, Duration.ZERO),
                true,
                Payload.NONE);
    }

    private static ScheduleSettings settings(OverlapPolicy overlap) {
        return new ScheduleSettings(
                new ScheduleInfo.Target(TYPE, TriggerCheck.ACCEPT, "lane", 4, "v7", Map.of("team", "sales")),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, overlap, Duration.ZERO),
                true,
                StoreRules.json("{\"a\":1}"));
    }

    private void create(String id, ScheduleSettings settings, NextSlot next) {
        store().schedules().create(namespace(), id, settings, next);
    }

    private void update(String id, ScheduleSettings settings, NextSlot next) {
        assertThat(store().schedules().update(namespace(), schedule(id), settings, next))
                .isTrue();
    }

    private int fire(FirePlan.Planner planner) {
        return store().schedules().fire(namespace(), planner, 50);
    }

    private ScheduleOutlook outlook() {
        return store().schedules().outlook(namespace());
    }

    private ScheduleInfo schedule(String id) {
        var found = store().schedules().find(namespace(), id);
        assertThat(found).as("schedule %s", id).isNotNull();
        return found;
    }

    private List<ScheduleFiring> firings(String id) {
        return store().schedules().firings(namespace(), id, null, 1_000);
    }

    private static RunQuery.Filter everything() {
        return new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, true);
    }

    private static <T> List<T> inThreads(int threads, Callable<List<T>> work) throws Exception {
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var calls = IntStream.range(0, threads).mapToObj(i -> work).toList();
            var all = new ArrayList<T>();
            for (var call : pool.invokeAll(calls)) {
                all.addAll(call.get());
            }
            return all;
        } finally {
            pool.shutdownNow();
        }
    }
}
