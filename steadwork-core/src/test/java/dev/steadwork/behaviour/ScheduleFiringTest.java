package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_STATE;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.OverlapPolicy;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleFiring.Cause;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.ScheduleSpec;
import dev.steadwork.Schedules;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schedules as they fire by themselves. */
class ScheduleFiringTest extends EngineTest {
    private static final Workflow<String, String> REPORT = Workflow.define("report", String.class, String.class);
    private static final Duration RARELY = Duration.ofMinutes(10);
    private static final String EVERY_SECOND = "* * * * * *";

    private Schedules schedules;

    @BeforeEach
    void registerReport() {
        steadwork.register(REPORT);
        schedules = steadwork.schedules();
    }

    @Test
    @Proves("SCHED-2")
    void every_slot_has_one_run_with_the_schedules_input_and_version() {
        var reports = new ConcurrentLinkedQueue<String>();
        work(REPORT, (ctx, input) -> {
            reports.add(input);
            return input;
        });

        create("tick", s -> s.cron(EVERY_SECOND).input("sales").version("v3").tag("team", "a"));
        awaitFirings("tick", 4);
        schedules.disable("tick");

        var firings = oldestFirst("tick");
        assertThat(firings).extracting(ScheduleFiring::slot).isEqualTo(everySecond(firings));
        for (var firing : firings) {
            var run = steadwork.run(firing.run()).info();
            assertThat(firing.outcome()).isEqualTo(Outcome.FIRED);
            assertThat(firing.cause()).isEqualTo(Cause.CRON);
            assertThat(run.externalId()).isEqualTo("schedule-tick");
            assertThat(run.idempotencyKey()).isEqualTo("schedule-tick@" + firing.slot());
            assertThat(run.version()).isEqualTo("v3");
            assertThat(run.tags()).containsEntry("team", "a");
        }
        assertThat(runs("tick")).hasSameSizeAs(firings);
        await().atMost(PATIENCE).until(() -> reports.size() == firings.size());
        assertThat(reports).containsOnly("sales");
    }

    @Test
    @Proves("SCHED-2")
    void a_due_schedule_is_fired_within_a_second_without_polling() {
        var idle = open(settings -> settings.pollInterval(RARELY));
        idle.worker().handle(REPORT, (ctx, input) -> input).start();
        var caller = open(settings -> settings.pollInterval(RARELY));

        caller.schedules().create("tick", s -> s.workflow(REPORT).cron(EVERY_SECOND));
        awaitFirings("tick", 3);
        caller.schedules().disable("tick");
        int before = firings("tick").size();
        caller.schedules().enable("tick");
        awaitFirings("tick", before + 2);

        var lateness = firings("tick").stream()
                .map(firing -> Duration.between(firing.slot(), firing.at()))
                .sorted()
                .toList();
        assertThat(lateness.get(lateness.size() / 2)).isLessThan(Duration.ofSeconds(1));
    }

    @Test
    @Proves("SCHED-2")
    void jitter_moves_the_firing_and_not_the_slot() {
        work(REPORT, (ctx, input) -> input);

        create("spread", s -> s.cron(EVERY_SECOND).jitter(Duration.ofMillis(900)));
        awaitFirings("spread", 5);
        schedules.disable("spread");

        var firings = oldestFirst("spread");
        assertThat(firings).extracting(ScheduleFiring::slot).isEqualTo(everySecond(firings));
        assertThat(firings)
                .extracting(firing -> Duration.between(firing.slot(), firing.at()))
                .anyMatch(lateness -> lateness.compareTo(Duration.ofMillis(200)) > 0);
    }

    @Test
    @Proves("SCHED-3")
    void slots_that_passed_while_no_worker_ran_are_made_up_for_in_order() throws SQLException {
        create("all", s -> s.cron("*/10 * * * *"));
        create("two", s -> s.cron("*/10 * * * *").maxCatchup(2));
        create("none", s -> s.cron("*/10 * * * *").maxCatchup(0));
        for (var id : List.of("all", "two", "none")) {
            moveBack(id, Duration.ofHours(2));
        }

        work(REPORT, (ctx, input) -> input);
        await().atMost(PATIENCE)
                .until(() -> schedules.list().stream()
                        .allMatch(schedule -> schedule.nextSlot().isAfter(schedule.createdAt())));

        var all = oldestFirst("all");
        assertThat(all.size()).isBetween(11, 13);
        assertThat(all.get(1).slot()).isEqualTo(all.get(0).slot().plusSeconds(600));
        assertThat(oldestFirst("two"))
                .extracting(ScheduleFiring::slot)
                .containsExactly(
                        all.get(all.size() - 2).slot(), all.get(all.size() - 1).slot());
        assertThat(runs("all")).extracting(RunInfo::createdAt).hasSameSizeAs(all);
        assertThat(firings("none")).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    @Proves("SCHED-3")
    void a_slot_is_skipped_while_the_last_run_is_active() {
        var go = new Semaphore(0);
        work(REPORT, (ctx, input) -> wait(go));

        create("skipping", s -> s.cron(EVERY_SECOND).overlap(OverlapPolicy.SKIP));
        await().atMost(PATIENCE).until(() -> countOf("skipping", Outcome.SKIPPED) >= 2);
        assertThat(countOf("skipping", Outcome.FIRED)).isEqualTo(1);

        go.release(1_000);
        await().atMost(PATIENCE).until(() -> countOf("skipping", Outcome.FIRED) >= 2);
    }

    @Test
    @Proves("SCHED-3")
    void one_slot_waits_for_the_last_run_and_is_fired_when_that_ends() {
        var engine = open(settings -> settings.pollInterval(RARELY));
        var go = new Semaphore(0);
        engine.worker().handle(REPORT, (ctx, input) -> wait(go)).start();

        create("buffering", s -> s.cron(EVERY_SECOND).overlap(OverlapPolicy.BUFFER_ONE));
        await().atMost(PATIENCE).until(() -> countOf("buffering", Outcome.SKIPPED) >= 2);
        assertThat(countOf("buffering", Outcome.FIRED)).isEqualTo(1);
        assertThat(countOf("buffering", Outcome.BUFFERED)).isEqualTo(1);
        var waiting = schedules.get("buffering").state().bufferedSlot();
        schedules.update("buffering", s -> s.cron("0 0 1 1 *"));

        go.release();
        await().atMost(Duration.ofSeconds(10)).until(() -> countOf("buffering", Outcome.FIRED) == 2);

        assertThat(schedules.get("buffering").state().bufferedSlot()).isNull();
        assertThat(firings("buffering"))
                .filteredOn(firing -> firing.slot().equals(waiting))
                .singleElement()
                .matches(firing -> firing.outcome() == Outcome.FIRED && firing.run() != null);
        go.release(1_000);
    }

    @Test
    @Proves("SCHED-3")
    void the_last_run_is_cancelled_for_the_next_slot() {
        work(REPORT, (ctx, input) -> wait(new Semaphore(0)));

        create("replacing", s -> s.cron(EVERY_SECOND).overlap(OverlapPolicy.CANCEL_RUNNING));
        awaitFirings("replacing", 3);
        schedules.disable("replacing");

        await().atMost(PATIENCE)
                .until(() -> runs("replacing").stream()
                                .filter(run -> !run.status().isTerminal())
                                .count()
                        == 1);
        assertThat(runs("replacing").get(0).status().isTerminal())
                .as("the newest goes on")
                .isFalse();
        assertThat(runs("replacing").stream().skip(1))
                .isNotEmpty()
                .allMatch(run -> run.status() == RunStatus.CANCELLED);
        steadwork.runs().type("report").cancelAll();
    }

    @Test
    @Proves("SCHED-2")
    void a_schedule_whose_row_was_broken_is_stopped_and_the_others_go_on() throws SQLException {
        work(REPORT, (ctx, input) -> input);
        create("fine", s -> s.cron(EVERY_SECOND));
        for (var broken : List.of("cron", "zone", "tags")) {
            create(broken, s -> s.cron(EVERY_SECOND));
            execute("UPDATE %s SET %s = 'rubbish' WHERE schedule_id = '%s'"
                    .formatted(table("schedule"), broken, broken));
        }

        await().atMost(PATIENCE)
                .until(() -> errorOf("cron") != null && errorOf("zone") != null && errorOf("tags") != null);
        awaitFirings("fine", firings("fine").size() + 2);

        assertThat(errorOf("cron")).contains("rubbish");
        assertThat(errorOf("zone")).contains("rubbish");
        assertThat(schedules.get("cron").nextSlot()).isNull();
        assertThat(schedules.get("fine").lastError()).isNull();

        assertThat(schedules.disable("zone").enabled()).isFalse();
        assertRefused(INVALID_STATE, () -> schedules.trigger("tags"), "Schedule tags", "update it");
        int before = firings("cron").size();
        var repaired = schedules.update("cron", s -> s.cron(EVERY_SECOND));
        assertThat(repaired.lastError()).isNull();
        awaitFirings("cron", before + 1);
    }

    @Test
    @Proves("SCHED-2")
    void a_schedule_whose_workflow_is_gone_tells_so_and_fires_again_when_it_is_back() throws SQLException {
        work(Workflow.define("other", String.class, String.class), (ctx, input) -> input);
        create("orphan", s -> s.cron(EVERY_SECOND));
        execute("DELETE FROM %s WHERE type = 'report'".formatted(table("definition")));

        await().atMost(PATIENCE).until(() -> errorOf("orphan") != null);
        assertThat(errorOf("orphan")).contains("report", "not registered");
        assertThat(countOf("orphan", Outcome.FAILED)).isPositive();
        assertRefused(PRECONDITION_FAILED, () -> schedules.trigger("orphan"), "Schedule orphan", "report");
        schedules.disable("orphan");
        schedules.enable("orphan");

        steadwork.register(REPORT);
        await().atMost(PATIENCE).until(() -> countOf("orphan", Outcome.FIRED) > 0);
        assertThat(errorOf("orphan")).isNull();
    }

    @Test
    @Proves("SCHED-2")
    void a_thousand_schedules_of_one_moment_are_fired_together() throws SQLException {
        IntStream.range(0, 1_000).parallel().forEach(i -> create("s-" + i, s -> s.cron("0 0 1 1 *")));
        var time = database == TestDatabase.POSTGRES ? "'2026-01-01T00:00:00Z'" : "1767225600000000";
        execute("UPDATE %1$s SET next_slot = %2$s, due_at = %2$s".formatted(table("schedule"), time));

        work(REPORT, (ctx, input) -> input);
        await().atMost(PATIENCE.multipliedBy(2))
                .until(() -> steadwork.runs().type("report").count() == 1_000);

        var times = IntStream.range(0, 1_000)
                .mapToObj(i -> firings("s-" + i))
                .peek(firings -> assertThat(firings).hasSize(1))
                .map(firings -> firings.get(0).at())
                .sorted()
                .toList();
        assertThat(Duration.between(times.get(0), times.get(999))).isLessThan(Duration.ofSeconds(30));
    }

    private static String wait(Semaphore go) throws InterruptedException {
        go.acquire();
        return "done";
    }

    private ScheduleInfo create(String id, Consumer<ScheduleSpec> settings) {
        return schedules.create(id, s -> settings.accept(s.workflow(REPORT)));
    }

    private List<ScheduleFiring> firings(String id) {
        return schedules.firings(id, 1_000).items();
    }

    private List<ScheduleFiring> oldestFirst(String id) {
        var firings = new ArrayList<>(firings(id));
        Collections.reverse(firings);
        return firings;
    }

    private long countOf(String id, Outcome outcome) {
        return firings(id).stream()
                .filter(firing -> firing.outcome() == outcome)
                .count();
    }

    private String errorOf(String id) {
        return schedules.get(id).lastError();
    }

    /** Newest first. */
    private List<RunInfo> runs(String id) {
        return steadwork.runs().externalId("schedule-" + id).page(1_000).items();
    }

    private void awaitFirings(String id, int count) {
        await().atMost(PATIENCE).until(() -> firings(id).size() >= count);
    }

    /** What their slots are if none is missing. */
    private static List<Instant> everySecond(List<ScheduleFiring> oldestFirst) {
        var first = oldestFirst.get(0).slot();
        assertThat(first.getNano()).isZero();
        return IntStream.range(0, oldestFirst.size())
                .mapToObj(first::plusSeconds)
                .toList();
    }

    /** As if nobody had looked at the schedule for so long. */
    private void moveBack(String id, Duration time) throws SQLException {
        var sql = database == TestDatabase.POSTGRES
                ? "UPDATE %1$s SET next_slot = next_slot - interval '%2$d s', due_at = due_at - interval '%2$d s' WHERE schedule_id = '%3$s'"
                : "UPDATE %1$s SET next_slot = next_slot - %2$d * 1000000, due_at = due_at - %2$d * 1000000 WHERE schedule_id = '%3$s'";
        execute(sql.formatted(table("schedule"), time.toSeconds(), id));
    }

    private String table(String name) {
        return (database == TestDatabase.POSTGRES ? "steadwork." : "steadwork_") + name;
    }

    private void execute(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
