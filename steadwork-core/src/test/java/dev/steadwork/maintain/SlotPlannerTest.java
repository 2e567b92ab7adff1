package dev.steadwork.maintain;

import static dev.steadwork.ScheduleFiring.Outcome.BUFFERED;
import static dev.steadwork.ScheduleFiring.Outcome.FIRED;
import static dev.steadwork.ScheduleFiring.Outcome.SKIPPED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.OverlapPolicy;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.store.DueSchedule;
import dev.steadwork.store.FirePlan;
import dev.steadwork.store.FirePlan.Decision;
import dev.steadwork.store.NextSlot;
import dev.steadwork.store.ScheduleSettings;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which slots are fired, and what comes next. */
@Proves("SCHED-3")
class SlotPlannerTest {
    private static final Instant NOON = Instant.parse("2026-11-16T12:00:00Z");
    private static final Duration NO_JITTER = Duration.ZERO;

    private final SlotPlanner planner = new SlotPlanner();

    @Test
    void a_slot_that_is_due_is_fired_and_the_next_one_awaited() {
        var plan = plan("* * * * *", 100, NOON, NOON.plusMillis(20));

        assertThat(plan.decisions()).containsExactly(new Decision(NOON, FIRED));
        assertThat(plan.next()).isEqualTo(next(NOON.plusSeconds(60)));
    }

    @Test
    void all_missed_slots_are_made_up_for_in_order() {
        var plan = plan("* * * * *", 100, NOON.minusSeconds(180), NOON.plusSeconds(10));

        assertThat(slots(plan)).containsExactly(minutes(-3), minutes(-2), minutes(-1), NOON);
    }

    @Test
    void of_too_many_missed_slots_the_most_recent_are_made_up_for() {
        var plan = plan("* * * * *", 2, NOON.minus(Duration.ofDays(500)), NOON.plusSeconds(10));

        assertThat(slots(plan)).containsExactly(minutes(-1), NOON);
        assertThat(plan.next()).isEqualTo(next(minutes(1)));
    }

    @Test
    void many_missed_slots_are_made_up_for_a_hundred_at_a_time() {
        var first = minutes(-249);
        var plan = plan("* * * * *", 1_000, first, NOON);

        assertThat(slots(plan)).hasSize(100).startsWith(first).isSorted();
        assertThat(plan.next()).isEqualTo(next(minutes(-149)));
        var second = plan("* * * * *", 1_000, plan.next().slot(), NOON);
        var third = plan("* * * * *", 1_000, second.next().slot(), NOON);
        assertThat(slots(third)).hasSize(50).endsWith(NOON);
        assertThat(third.next()).isEqualTo(next(minutes(1)));
    }

    @Test
    void without_catch_up_only_a_slot_that_is_in_time_is_fired() {
        assertThat(slots(plan("@hourly", 0, NOON, NOON.plusMillis(30)))).containsExactly(NOON);
        assertThat(slots(plan("@hourly", 0, NOON, NOON.plusSeconds(60)))).containsExactly(NOON);

        var late = plan("@hourly", 0, NOON, NOON.plusSeconds(61));
        assertThat(late.decisions()).isEmpty();
        assertThat(late.next()).isEqualTo(next(minutes(60)));

        assertThat(slots(plan("* * * * * *", 0, NOON.minusSeconds(100), NOON.plusMillis(400))))
                .containsExactly(NOON);
        assertThat(slots(plan("* * * * * *", 0, NOON.minusSeconds(100), NOON.plusMillis(600))))
                .isEmpty();
    }

    @Test
    void slots_may_overlap_unless_it_is_said_otherwise() {
        assertThat(outcomes(OverlapPolicy.ALLOW, true, null)).containsExactly(FIRED, FIRED, FIRED);
    }

    @Test
    void a_slot_is_skipped_while_the_last_run_is_active() {
        assertThat(outcomes(OverlapPolicy.SKIP, true, null)).containsExactly(SKIPPED, SKIPPED, SKIPPED);
        assertThat(outcomes(OverlapPolicy.SKIP, false, null))
                .as("the first one is active then")
                .containsExactly(FIRED, SKIPPED, SKIPPED);
    }

    @Test
    void one_slot_waits_for_the_end_of_the_last_run() {
        assertThat(outcomes(OverlapPolicy.BUFFER_ONE, true, null)).containsExactly(BUFFERED, SKIPPED, SKIPPED);
        assertThat(outcomes(OverlapPolicy.BUFFER_ONE, false, null)).containsExactly(FIRED, BUFFERED, SKIPPED);
        assertThat(outcomes(OverlapPolicy.BUFFER_ONE, true, minutes(-9))).containsExactly(SKIPPED, SKIPPED, SKIPPED);
        assertThat(plan(OverlapPolicy.BUFFER_ONE, true, minutes(-9)).bufferedSlot())
                .isEqualTo(minutes(-9));

        var released = plan(OverlapPolicy.BUFFER_ONE, false, minutes(-9));
        assertThat(slots(released)).startsWith(minutes(-9));
        assertThat(released.decisions())
                .extracting(Decision::outcome)
                .containsExactly(FIRED, BUFFERED, SKIPPED, SKIPPED);
        assertThat(released.bufferedSlot()).isEqualTo(minutes(-2));
    }

    @Test
    void a_slot_that_waited_is_fired_before_the_next_one_is_due() {
        var settings = settings("* * * * *", 100, OverlapPolicy.BUFFER_ONE, NO_JITTER);
        var plan = planner.plan(new DueSchedule("s", settings, minutes(1), NOON, false), NOON.plusSeconds(30));

        assertThat(plan.decisions()).containsExactly(new Decision(NOON, FIRED));
        assertThat(plan.next()).isEqualTo(next(minutes(1)));
        assertThat(plan.bufferedSlot()).isNull();
    }

    @Test
    void the_newest_slot_takes_the_place_of_the_last_run() {
        assertThat(outcomes(OverlapPolicy.CANCEL_RUNNING, true, null)).containsExactly(SKIPPED, SKIPPED, FIRED);
        assertThat(plan(OverlapPolicy.CANCEL_RUNNING, true, null).cancelsLast()).isTrue();
        assertThat(plan(OverlapPolicy.CANCEL_RUNNING, false, null).cancelsLast())
                .isFalse();
        assertThat(plan(OverlapPolicy.ALLOW, true, null).cancelsLast()).isFalse();
    }

    @Test
    void of_slots_that_are_decided_on_in_several_parts_only_the_newest_takes_the_place_of_the_last_run() {
        var settings = settings("* * * * *", 1_000, OverlapPolicy.CANCEL_RUNNING, NO_JITTER);
        var first = planner.plan(new DueSchedule("s", settings, minutes(-149), null, true), NOON);
        var second = planner.plan(new DueSchedule("s", settings, first.next().slot(), null, true), NOON);

        assertThat(first.decisions()).hasSize(100).allMatch(decision -> decision.outcome() == SKIPPED);
        assertThat(first.cancelsLast()).isFalse();
        assertThat(second.decisions()).hasSize(50).endsWith(new Decision(NOON, FIRED));
        assertThat(second.cancelsLast()).isTrue();
    }

    @Test
    void jitter_delays_a_slot_by_the_same_time_whoever_asks() {
        var settings = settings("* * * * *", 100, OverlapPolicy.ALLOW, Duration.ofSeconds(30));
        var delays = IntStream.range(0, 200)
                .mapToObj(i -> delay("s", settings, minutes(i)))
                .toList();

        assertThat(delays).allMatch(delay -> !delay.isNegative() && delay.compareTo(Duration.ofSeconds(30)) < 0);
        assertThat(delays.stream()
                        .filter(delay -> delay.compareTo(Duration.ofSeconds(15)) < 0)
                        .count())
                .as("spread over all of it")
                .isBetween(50L, 150L);
        assertThat(new SlotPlanner().nextSlot("s", settings, NOON)).isEqualTo(planner.nextSlot("s", settings, NOON));
        assertThat(delay("other", settings, NOON)).isNotEqualTo(delay("s", settings, NOON));
    }

    @Test
    void a_slot_is_not_fired_before_its_jitter_has_passed() {
        var settings = settings("* * * * *", 100, OverlapPolicy.ALLOW, Duration.ofSeconds(30));
        var due = NOON.plus(delay("s", settings, NOON));

        var early = planner.plan(new DueSchedule("s", settings, NOON, null, false), due.minusMillis(1));
        var inTime = planner.plan(new DueSchedule("s", settings, NOON, null, false), due);

        assertThat(early.decisions()).isEmpty();
        assertThat(early.next()).isEqualTo(new NextSlot(NOON, due));
        assertThat(inTime.decisions()).containsExactly(new Decision(NOON, FIRED));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100})
    void a_slot_that_waits_for_its_jitter_is_not_missed_however_many_come_after_it(int maxCatchup) {
        var settings = settings("* * * * *", maxCatchup, OverlapPolicy.ALLOW, Duration.ofHours(5));
        var next = planner.next("s", settings, NOON);
        var fired = new ArrayList<Instant>();
        while (fired.size() < 1_000) {
            var plan = planner.plan(new DueSchedule("s", settings, next.slot(), null, false), next.due());
            fired.addAll(slots(plan));
            next = plan.next();
        }

        assertThat(fired)
                .isEqualTo(IntStream.rangeClosed(1, fired.size())
                        .mapToObj(SlotPlannerTest::minutes)
                        .toList());
    }

    @Test
    void slots_older_than_the_jitter_are_made_up_for_as_far_as_is_allowed() {
        var settings = settings("* * * * *", 3, OverlapPolicy.ALLOW, Duration.ofMinutes(2));
        var plan = planner.plan(new DueSchedule("s", settings, minutes(-500), null, false), NOON.plusSeconds(30));

        assertThat(slots(plan)).startsWith(minutes(-4), minutes(-3), minutes(-2));
        assertThat(slots(plan).size()).isLessThanOrEqualTo(5);
    }

    @Test
    void a_next_slot_that_is_none_any_more_is_left_out() {
        var plan = plan("@hourly", 100, minutes(-1), NOON.minusSeconds(10));

        assertThat(plan.decisions()).isEmpty();
        assertThat(plan.next()).isEqualTo(next(NOON));
    }

    @Test
    @Proves("SCHED-2")
    void what_cannot_be_read_is_told() {
        assertThatThrownBy(() -> plan("whenever", 100, NOON, NOON))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("whenever");
    }

    private Duration delay(String id, ScheduleSettings settings, Instant slot) {
        return Duration.between(slot, planner.nextSlot(id, settings, slot).due());
    }

    private FirePlan plan(String cron, int maxCatchup, Instant next, Instant now) {
        var settings = settings(cron, maxCatchup, OverlapPolicy.ALLOW, NO_JITTER);
        return planner.plan(new DueSchedule("s", settings, next, null, false), now);
    }

    /** Three slots are due. */
    private FirePlan plan(OverlapPolicy overlap, boolean active, @Nullable Instant buffered) {
        var settings = settings("* * * * *", 100, overlap, NO_JITTER);
        return planner.plan(new DueSchedule("s", settings, minutes(-2), buffered, active), NOON.plusSeconds(1));
    }

    private List<Outcome> outcomes(OverlapPolicy overlap, boolean active, @Nullable Instant buffered) {
        return plan(overlap, active, buffered).decisions().stream()
                .map(Decision::outcome)
                .toList();
    }

    private static List<Instant> slots(FirePlan plan) {
        return plan.decisions().stream().map(Decision::slot).toList();
    }

    private static NextSlot next(Instant slot) {
        return new NextSlot(slot, slot);
    }

    private static Instant minutes(int fromNoon) {
        return NOON.plus(Duration.ofMinutes(fromNoon));
    }

    private static ScheduleSettings settings(String cron, int maxCatchup, OverlapPolicy overlap, Duration jitter) {
        return new ScheduleSettings(
                new ScheduleInfo.Target("report", TriggerCheck.ACCEPT, null, 0, null, Map.of()),
                cron,
                "UTC",
                new ScheduleInfo.Rules(maxCatchup, overlap, jitter),
                true,
                null);
    }
}
