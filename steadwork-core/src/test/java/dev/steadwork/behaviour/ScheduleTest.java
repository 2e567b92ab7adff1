package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.ErrorCode.PAYLOAD_TOO_LARGE;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.OverlapPolicy;
import dev.steadwork.Page;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.ScheduleSpec;
import dev.steadwork.Schedules;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schedules as people handle them: created, looked at, changed, switched off and on, fired by hand. */
@Proves("SCHED-4")
class ScheduleTest extends EngineTest {
    private static final Workflow<String, String> REPORT = Workflow.define("report", String.class, String.class);
    private static final String YEARLY = "0 0 1 1 *";

    private Schedules schedules;

    @BeforeEach
    void registerReport() {
        steadwork.register(REPORT);
        schedules = steadwork.schedules();
    }

    @Test
    void a_schedule_is_kept_as_it_was_given() {
        var created = schedules.create(
                "nightly",
                s -> s.workflow(REPORT)
                        .cron("30 2 * * *")
                        .zone("Europe/Berlin")
                        .input("all")
                        .maxCatchup(7)
                        .overlap(OverlapPolicy.SKIP)
                        .jitter(Duration.ofMillis(1500))
                        .queue("reports")
                        .priority(5)
                        .version("v2")
                        .tag("team", "sales")
                        .tag("kind", "daily"));

        assertThat(schedules.get("nightly")).isEqualTo(created);
        assertThat(created.id()).isEqualTo("nightly");
        assertThat(created.workflow()).isEqualTo("report");
        assertThat(created.cron()).isEqualTo("30 2 * * *");
        assertThat(created.zone()).isEqualTo("Europe/Berlin");
        assertThat(created.enabled()).isTrue();
        assertThat(created.rules()).isEqualTo(new ScheduleInfo.Rules(7, OverlapPolicy.SKIP, Duration.ofMillis(1500)));
        assertThat(created.target())
                .isEqualTo(new ScheduleInfo.Target(
                        "report",
                        TriggerCheck.REQUIRE_REGISTERED,
                        "reports",
                        5,
                        "v2",
                        Map.of("team", "sales", "kind", "daily")));
        assertThat(created.nextSlot())
                .isEqualTo(schedules.preview("30 2 * * *", "Europe/Berlin", 1).get(0));
        assertThat(created.lastError()).isNull();
        assertThat(created.lastRun()).isNull();
    }

    @Test
    void little_must_be_said() {
        var created = schedules.create("plain", s -> s.workflow("report").cron("@daily"));

        assertThat(created.zone()).isEqualTo("UTC");
        assertThat(created.rules()).isEqualTo(new ScheduleInfo.Rules(100, OverlapPolicy.ALLOW, Duration.ZERO));
        assertThat(created.target())
                .isEqualTo(new ScheduleInfo.Target("report", TriggerCheck.REQUIRE_REGISTERED, null, 0, null, Map.of()));
    }

    @Test
    void an_id_is_taken_once() {
        var first = create("taken", s -> s.cron(YEARLY));

        assertRefused(CONFLICT, () -> create("taken", s -> s.cron("@daily")), "taken", "update(...)");

        assertThat(schedules.get("taken")).isEqualTo(first);
    }

    @Test
    void schedules_of_another_namespace_are_apart() {
        create("mine", s -> s.cron(YEARLY));
        var other = open(settings -> settings.namespace("other"));

        assertThat(other.schedules().list()).isEmpty();
        assertRefused(NOT_FOUND, () -> other.schedules().get("mine"), "mine", "other");
    }

    @Test
    void all_are_listed_by_id() {
        IntStream.range(0, 25).forEach(i -> create("s-%02d".formatted(i), s -> s.cron(YEARLY)));

        var ids = IntStream.range(0, 25).mapToObj("s-%02d"::formatted).toList();
        assertThat(schedules.list()).extracting(ScheduleInfo::id).isEqualTo(ids);
        var first = schedules.page(10);
        assertThat(first.items()).extracting(ScheduleInfo::id).isEqualTo(ids.subList(0, 10));
        assertThat(first.next().next().items()).extracting(ScheduleInfo::id).isEqualTo(ids.subList(20, 25));
        assertThat(first.next().next().hasNext()).isFalse();
    }

    @Test
    void an_update_changes_what_it_mentions_and_nothing_else() {
        var before = create(
                "nightly", s -> s.cron("0 2 * * *").input("all").tag("a", "b").maxCatchup(3));

        var after = schedules.update("nightly", s -> s.cron("0 3 * * *").zone(ZoneId.of("Asia/Tokyo")));

        assertThat(after.cron()).isEqualTo("0 3 * * *");
        assertThat(after.zone()).isEqualTo("Asia/Tokyo");
        assertThat(after.nextSlot()).isEqualTo(schedules.next("nightly", 1).get(0));
        assertThat(after.target()).isEqualTo(before.target());
        assertThat(after.rules()).isEqualTo(before.rules());
        assertThat(after.revision()).isEqualTo(before.revision() + 1);
        assertThat(schedules.trigger("nightly").input().bytes()).asString().isEqualTo("\"all\"");

        schedules.update("nightly", s -> s.input(null).tags(Map.of()));
        assertThat(schedules.trigger("nightly").input().isNone()).isTrue();
        assertThat(schedules.get("nightly").target().tags()).isEmpty();
    }

    @Test
    void updates_that_meet_are_both_made() {
        create("busy", s -> s.cron(YEARLY));
        var calls = new AtomicInteger();

        schedules.update("busy", s -> {
            if (calls.getAndIncrement() == 0) {
                schedules.update("busy", other -> other.tag("first", "x"));
            }
            s.tag("second", "y");
        });

        assertThat(schedules.get("busy").target().tags()).containsOnlyKeys("first", "second");
    }

    @Test
    void a_bad_update_changes_nothing() {
        var before = create("nightly", s -> s.cron("0 2 * * *"));

        assertRefused(INVALID_ARGUMENT, () -> schedules.update("nightly", s -> s.cron("0 25 * * *")), "0 25 * * *");
        assertRefused(INVALID_ARGUMENT, () -> schedules.update("nightly", s -> s.zone("Mars/Olympus")), "Mars/Olympus");
        assertRefused(INVALID_ARGUMENT, () -> schedules.update("nightly", s -> s.maxCatchup(-1)), "-1");
        assertRefused(PRECONDITION_FAILED, () -> schedules.update("nightly", s -> s.workflow("unknown")), "unknown");

        assertThat(schedules.get("nightly")).isEqualTo(before);
    }

    @Test
    void bad_input_is_refused_and_creates_nothing() {
        assertBad(s -> s.cron("every day"), "cron is 'every day'");
        assertBad(s -> s.cron("0 0 30 2 *"), "0 0 30 2 *", "matches no day");
        assertBad(s -> s.cron(""), "cron");
        assertBad(s -> s.cron(YEARLY).zone("Mars/Olympus"), "zone is 'Mars/Olympus'");
        assertBad(s -> s.cron(YEARLY).maxCatchup(-1), "maxCatchup is -1");
        assertBad(s -> s.cron(YEARLY).maxCatchup(1_001), "maxCatchup is 1001");
        assertBad(s -> s.cron(YEARLY).jitter(Duration.ofSeconds(-1)), "jitter is PT-1S");
        assertBad(s -> s.cron(YEARLY).jitter(Duration.ofHours(25)), "jitter is PT25H");
        assertBad(s -> s.cron(YEARLY).workflow(" "), "workflow name");
        assertBad(s -> s.cron(YEARLY).queue("a\nb"), "queue", "U+000A");
        assertBad(s -> s.cron(YEARLY).tag("", "x"), "tag key");
        assertBad(s -> s.cron(YEARLY).version(""), "version");
        assertRefused(
                PAYLOAD_TOO_LARGE,
                () -> create("bad", s -> s.cron(YEARLY).input("x".repeat(3 << 20))),
                "Input of schedule bad");
        assertBad(s -> {}, "cron");
        assertRefused(INVALID_ARGUMENT, () -> schedules.create("bad", s -> s.cron(YEARLY)), "workflow");
        assertRefused(INVALID_ARGUMENT, () -> create("", s -> s.cron(YEARLY)), "schedule id");
        assertRefused(INVALID_ARGUMENT, () -> create("x".repeat(201), s -> s.cron(YEARLY)), "201");
        assertRefused(
                PRECONDITION_FAILED,
                () -> schedules.create("bad", s -> s.workflow("unknown").cron(YEARLY)),
                "Schedule bad",
                "unknown");

        assertThat(schedules.list()).isEmpty();
    }

    private void assertBad(Consumer<ScheduleSpec> settings, String... says) {
        assertRefused(INVALID_ARGUMENT, () -> create("bad", settings), says);
    }

    @Test
    void a_workflow_that_accepts_any_trigger_need_not_be_registered() {
        var later = Workflow.define("later", String.class, String.class)
                .onQueue("lane")
                .check(TriggerCheck.ACCEPT);

        schedules.create("early", s -> s.workflow(later).cron(YEARLY));

        assertThat(schedules.trigger("early").info().queue()).isEqualTo("lane");
    }

    @Test
    void what_is_not_there_is_said_so() {
        assertRefused(NOT_FOUND, () -> schedules.get("nobody"), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.update("nobody", s -> s.priority(1)), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.enable("nobody"), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.disable("nobody"), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.delete("nobody"), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.trigger("nobody"), "nobody");
        assertRefused(NOT_FOUND, () -> schedules.next("nobody", 1), "nobody");
        assertRefused(
                NOT_FOUND, () -> schedules.backfill("nobody", Instant.EPOCH, Instant.EPOCH.plusSeconds(1)), "nobody");
    }

    @Test
    void a_disabled_schedule_fires_nothing_and_enabling_does_not_fire_the_past() {
        work(REPORT, (ctx, input) -> input);
        create("on-off", s -> s.cron("* * * * * *"));
        awaitFirings("on-off", 1);

        var disabled = schedules.disable("on-off");
        assertThat(disabled.enabled()).isFalse();
        assertThat(disabled.nextSlot()).isNull();
        int before = firings("on-off").size();
        passSeconds(3);
        assertThat(firings("on-off")).hasSize(before);

        var enabled = schedules.enable("on-off");
        assertThat(enabled.nextSlot()).isAfterOrEqualTo(enabled.updatedAt().truncatedTo(ChronoUnit.SECONDS));
        awaitFirings("on-off", before + 1);
        assertThat(firings("on-off"))
                .extracting(ScheduleFiring::slot)
                .noneMatch(slot -> slot.isAfter(disabled.updatedAt()) && slot.isBefore(enabled.nextSlot()));
    }

    @Test
    void enabling_what_is_enabled_leaves_its_next_slot() {
        var before = create("nightly", s -> s.cron(YEARLY));

        assertThat(schedules.enable("nightly").nextSlot()).isEqualTo(before.nextSlot());
        assertThat(create("off", s -> s.cron(YEARLY).enabled(false)).nextSlot()).isNull();
    }

    @Test
    void a_deleted_schedule_leaves_its_history_and_its_id() {
        create("gone", s -> s.cron(YEARLY));
        var run = schedules.trigger("gone");

        schedules.delete("gone");

        assertThat(schedules.list()).isEmpty();
        assertThat(firings("gone")).extracting(ScheduleFiring::run).containsExactly(run.id());
        assertThat(run.info().externalId()).isEqualTo("schedule-gone");
        create("gone", s -> s.cron(YEARLY));
        assertThat(firings("gone")).hasSize(1);
    }

    @Test
    void a_trigger_by_hand_fires_once_more_also_when_disabled() {
        work(REPORT, (ctx, input) -> "report on " + input);
        create("manual", s -> s.cron(YEARLY).enabled(false).input("sales").priority(3));

        var first = schedules.trigger("manual");
        var second = schedules.trigger("manual");

        assertThat(first.await(PATIENCE)).isEqualTo("report on sales");
        assertThat(second.await(PATIENCE)).isEqualTo("report on sales");
        assertThat(first.info().priority()).isEqualTo(3);
        assertThat(first.info().externalId()).isEqualTo("schedule-manual");
        assertThat(firings("manual"))
                .hasSize(2)
                .allMatch(firing -> firing.cause() == Cause.TRIGGER && firing.outcome() == Outcome.FIRED)
                .extracting(ScheduleFiring::run)
                .containsExactly(second.id(), first.id());
        assertThat(schedules.get("manual").lastRun()).isEqualTo(second.id());
    }

    @Test
    void a_window_of_the_past_is_filled_in_once() {
        create("hourly", s -> s.cron("@hourly").input("x"));
        var from = Instant.parse("2026-01-01T00:00:00Z");

        var runs = schedules.backfill("hourly", from, from.plus(Duration.ofHours(3)));
        var again = schedules.backfill("hourly", from, from.plus(Duration.ofHours(4)));

        assertThat(runs)
                .hasSize(3)
                .extracting(run -> run.info().idempotencyKey())
                .containsExactly(
                        "schedule-hourly@2026-01-01T00:00:00Z",
                        "schedule-hourly@2026-01-01T01:00:00Z",
                        "schedule-hourly@2026-01-01T02:00:00Z");
        assertThat(again).hasSize(1);
        assertThat(firings("hourly"))
                .allMatch(firing -> firing.cause() == Cause.BACKFILL && firing.outcome() == Outcome.FIRED)
                .extracting(ScheduleFiring::slot)
                .containsExactly(
                        from.plus(Duration.ofHours(3)),
                        from.plus(Duration.ofHours(2)),
                        from.plus(Duration.ofHours(1)),
                        from);
        assertThat(schedules.backfill("hourly", from.plusSeconds(1), from.plusSeconds(2)))
                .as("a window without slots")
                .isEmpty();
    }

    @Test
    void a_bad_window_is_refused_and_fires_nothing() {
        create("minutely", s -> s.cron("* * * * *"));
        var from = Instant.parse("2026-01-01T00:00:00Z");
        var now = Instant.now();

        assertRefused(
                INVALID_ARGUMENT, () -> schedules.backfill("minutely", now, from), from.toString(), now.toString());
        assertRefused(INVALID_ARGUMENT, () -> schedules.backfill("minutely", from, from), "must begin before it ends");
        assertRefused(
                INVALID_ARGUMENT,
                () -> schedules.backfill("minutely", from, now.plus(Duration.ofDays(1))),
                "not end after now");
        assertRefused(
                INVALID_ARGUMENT,
                () -> schedules.backfill("minutely", from, from.plus(Duration.ofMinutes(1_001))),
                "more than 1000 slots",
                "2026-01-01T16:40:00Z");
        assertThat(firings("minutely")).isEmpty();

        assertThat(schedules.backfill("minutely", from, from.plus(Duration.ofMinutes(1_000))))
                .hasSize(1_000);
    }

    @Test
    @Proves("SCHED-1")
    void the_next_slots_can_be_looked_at() {
        create("nightly", s -> s.cron("30 2 * * *").zone("Europe/Berlin").enabled(false));

        var next = schedules.next("nightly", 400);

        assertThat(next).hasSize(400).isSorted().allMatch(slot -> slot.isAfter(Instant.now()));
        assertThat(next).isEqualTo(schedules.preview("30 2 * * *", ZoneId.of("Europe/Berlin"), 400));
        assertRefused(INVALID_ARGUMENT, () -> schedules.next("nightly", 0), "count is 0");
        assertRefused(INVALID_ARGUMENT, () -> schedules.preview("@daily", "UTC", 1_001), "count is 1001");
        assertRefused(INVALID_ARGUMENT, () -> schedules.preview("daily", "UTC", 1), "daily");
    }

    @Test
    void the_history_has_pages() {
        create("hourly", s -> s.cron("@hourly"));
        var from = Instant.parse("2026-01-01T00:00:00Z");
        schedules.backfill("hourly", from, from.plus(Duration.ofHours(120)));

        Page<ScheduleFiring> first = schedules.firings("hourly");
        assertThat(first.items()).hasSize(50);
        assertThat(first.next().items().get(0).slot()).isEqualTo(from.plus(Duration.ofHours(69)));
        assertThat(first.next().next().items()).hasSize(20);
        assertThat(first.next().next().hasNext()).isFalse();
        assertThat(schedules.firings("hourly", 7).items()).hasSize(7);
    }

    private ScheduleInfo create(String id, Consumer<ScheduleSpec> settings) {
        return schedules.create(id, s -> settings.accept(s.workflow(REPORT)));
    }

    private List<ScheduleFiring> firings(String id) {
        return schedules.firings(id, 1_000).items();
    }

    private void awaitFirings(String id, int count) {
        await().atMost(PATIENCE).until(() -> firings(id).size() >= count);
    }

    private static void passSeconds(int seconds) {
        await().pollDelay(Duration.ofSeconds(seconds)).atMost(PATIENCE).until(() -> true);
    }
}
