package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.ExpiredRuns;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.OverlapPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.testing.Proves;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that are no longer kept are deleted for good, and no others. */
interface RetentionRules extends StoreRules {
    NamespaceInfo.Retention NOTHING =
            new NamespaceInfo.Retention(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);

    private ExpiredRuns.Count sweep(NamespaceInfo.Retention keep, boolean countOnly) {
        var all = ExpiredRuns.Count.NONE;
        @Nullable RunId last = null;
        do {
            var swept = store().sweep(namespace(), keep, last, countOnly);
            all = all.plus(swept.expired());
            last = swept.last();
        } while (last != null);
        return all;
    }

    private ExpiredRuns.Count sweep(NamespaceInfo.Retention keep) {
        return sweep(keep, false);
    }

    private boolean isThere(RunId run) {
        return store().find(run) != null;
    }

    /** The run's clock: a millisecond of an id that is over. */
    private static void letAMillisecondPass() {
        long begin = System.currentTimeMillis();
        while (System.currentTimeMillis() <= begin + 1) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Proves("DATA-4")
    default void ended_runs_are_deleted_by_their_status() {
        var completed = in(RunStatus.COMPLETED);
        var failed = in(RunStatus.FAILED);
        var cancelled = in(RunStatus.CANCELLED);
        letAMillisecondPass();

        var swept = sweep(new NamespaceInfo.Retention(Duration.ZERO, null, Duration.ofDays(1), Duration.ZERO));

        assertThat(swept).isEqualTo(new ExpiredRuns.Count(1, 0, 0, 0));
        assertThat(isThere(completed)).isFalse();
        assertThat(isThere(failed)).isTrue();
        assertThat(isThere(cancelled)).isTrue();
        assertThat(sweep(NOTHING)).isEqualTo(new ExpiredRuns.Count(0, 1, 1, 0));
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "RUNNING", "SLEEPING", "PAUSED"})
    @Proves("DATA-4")
    default void a_run_that_has_not_ended_is_kept_however_old_it_is(RunStatus status) {
        var run = in(status);
        letAMillisecondPass();

        assertThat(sweep(NOTHING)).isEqualTo(ExpiredRuns.Count.NONE);
        assertThat(isThere(run)).isTrue();
    }

    @Test
    @Proves("DATA-4")
    default void what_is_kept_for_ever_stays() {
        var run = in(RunStatus.COMPLETED);
        letAMillisecondPass();

        assertThat(sweep(NamespaceInfo.Retention.FOREVER)).isEqualTo(ExpiredRuns.Count.NONE);
        assertThat(isThere(run)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = "RUNNING", mode = EnumSource.Mode.EXCLUDE)
    @Proves("DATA-4")
    default void a_deleted_run_goes_whatever_its_status(RunStatus status) {
        var run = in(status);
        store().delete(run, "entered twice");
        letAMillisecondPass();

        var swept = sweep(new NamespaceInfo.Retention(null, null, null, Duration.ZERO));

        assertThat(swept).isEqualTo(new ExpiredRuns.Count(0, 0, 0, 1));
        assertThat(isThere(run)).isFalse();
    }

    @Test
    @Proves("DATA-4")
    default void a_deleted_run_that_a_worker_executes_may_finish() {
        var run = running();
        store().delete(run.id(), "entered twice");
        letAMillisecondPass();

        assertThat(sweep(NOTHING)).isEqualTo(ExpiredRuns.Count.NONE);
        assertThat(finish(run, RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
        assertThat(sweep(NOTHING)).isEqualTo(new ExpiredRuns.Count(0, 0, 0, 1));
    }

    @Test
    @Proves("DATA-4")
    default void counting_deletes_nothing() {
        var run = in(RunStatus.COMPLETED);
        letAMillisecondPass();

        assertThat(sweep(NOTHING, true)).isEqualTo(new ExpiredRuns.Count(1, 0, 0, 0));
        assertThat(isThere(run)).isTrue();
    }

    @Test
    @Proves("DATA-4")
    default void what_belongs_to_a_run_goes_with_it_and_nothing_of_its_neighbours_does() throws SQLException {
        var kept = withStepsAndSignal(running());
        var gone = withStepsAndSignal(running());
        finish(gone, RunStatus.COMPLETED);
        letAMillisecondPass();

        sweep(NOTHING);

        for (var table : List.of("step", "step_attempt", "signal")) {
            assertThat(rows(table, gone.id())).as(table + " of the deleted run").isZero();
            assertThat(rows(table, kept.id())).as(table + " of its neighbour").isEqualTo(1);
        }
    }

    private ClaimedRun withStepsAndSignal(ClaimedRun run) {
        write(new Write.SaveStep(run.id(), run.epoch(), StoreRules.step("charge", 1, "1")));
        write(new Write.SaveAttempt(run.id(), run.epoch(), StoreRules.attempt("ship", 2, 1)));
        store().signal(run.id(), "go", Payload.NONE);
        return run;
    }

    private int rows(String table, RunId run) throws SQLException {
        var sql = "SELECT run_id FROM " + table(table);
        int rows = 0;
        try (var connection = connect();
                var statement = connection.createStatement();
                var ids = statement.executeQuery(sql)) {
            while (ids.next()) {
                rows += is(ids.getObject(1), run) ? 1 : 0;
            }
        }
        return rows;
    }

    private static boolean is(Object id, RunId run) {
        return id.toString().equals(run.toString()) || id instanceof byte[] bytes && Arrays.equals(bytes, bytesOf(run));
    }

    private static byte[] bytesOf(RunId run) {
        return ByteBuffer.allocate(16)
                .putLong(run.uuid().getMostSignificantBits())
                .putLong(run.uuid().getLeastSignificantBits())
                .array();
    }

    @Test
    @Proves("DATA-4")
    default void other_namespaces_are_left_alone() {
        var run = in(RunStatus.COMPLETED);
        letAMillisecondPass();

        store().sweep(namespace() + "-other", NOTHING, null, false);

        assertThat(isThere(run)).isTrue();
    }

    @Test
    @Proves("DATA-4")
    default void firings_go_by_age_part_by_part_unless_their_slot_still_waits() {
        var slots = Stream.iterate(ScheduleRules.SLOT, slot -> slot.plusSeconds(60))
                .limit(700)
                .toList();
        var waiting = slots.get(699).plusSeconds(60);
        var settings = new ScheduleSettings(
                new ScheduleInfo.Target(TYPE, TriggerCheck.ACCEPT, null, 0, null, Map.of()),
                "* * * * *",
                "UTC",
                new ScheduleInfo.Rules(100, OverlapPolicy.BUFFER_ONE, Duration.ZERO),
                true,
                Payload.NONE);
        var schedules = store().schedules();
        schedules.create(namespace(), "s", settings, ScheduleRules.DUE);
        schedules.backfill(namespace(), "s", slots);
        schedules.fire(
                namespace(),
                (schedule, now) -> new FirePlan(
                        List.of(new FirePlan.Decision(waiting, ScheduleFiring.Outcome.BUFFERED)),
                        ScheduleRules.NOT_DUE,
                        waiting,
                        false),
                1);
        letAMillisecondPass();

        assertThat(schedules.forgetFirings(namespace(), Duration.ofDays(1))).isFalse();
        assertThat(schedules.forgetFirings(namespace() + "-other", Duration.ZERO))
                .isFalse();
        assertThat(schedules.firings(namespace(), "s", null, 1_000)).hasSize(701);

        assertThat(schedules.forgetFirings(namespace(), Duration.ZERO)).isTrue();
        assertThat(schedules.firings(namespace(), "s", null, 1_000)).hasSize(201);
        assertThat(schedules.forgetFirings(namespace(), Duration.ZERO)).isFalse();
        assertThat(schedules.firings(namespace(), "s", null, 1_000))
                .extracting(ScheduleFiring::slot)
                .containsExactly(waiting);
    }

    @Test
    @Proves("DATA-4")
    default void many_runs_are_deleted_part_by_part() {
        var runs = Stream.generate(() -> aRun().build()).limit(1_200).toList();
        store().triggerAll(runs);
        runs.forEach(run -> store().terminate(run.id(), "test"));
        letAMillisecondPass();

        var first = store().sweep(namespace(), NOTHING, null, false);
        var rest = sweep(NOTHING);

        assertThat(first.last()).isNotNull();
        assertThat(first.expired().total()).isLessThan(1_200);
        assertThat(first.expired().plus(rest)).isEqualTo(new ExpiredRuns.Count(0, 0, 1_200, 0));
    }

    @Test
    @Proves({"DATA-4", "TRIG-3"})
    default void the_key_of_a_run_that_is_gone_is_free() {
        var run = ended(aRun().key("order-1"), RunStatus.COMPLETED);
        letAMillisecondPass();
        sweep(NOTHING);

        assertThat(create(aRun().key("order-1"))).isNotEqualTo(run);
    }
}
