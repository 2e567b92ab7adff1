package dev.steadwork.maintain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.testing.Proves;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When a cron expression names in a time zone, on ordinary days and on those on which the clock changes. */
@Proves("SCHED-1")
class CronTest {
    private static final String BERLIN = "Europe/Berlin";
    private static final String NEW_YORK = "America/New_York";
    private static final String LORD_HOWE = "Australia/Lord_Howe";

    @Test
    void five_fields_are_minute_hour_day_month_and_day_of_the_week() {
        assertThat(slots("30 2 1 * *", "UTC", "2026-11-16T00:00:00Z", 2))
                .containsExactly("2026-12-01T02:30:00Z", "2027-01-01T02:30:00Z");
        assertThat(slots("0 9 * * MON-FRI", "UTC", "2026-11-20T09:00:00Z", 1)).containsExactly("2026-11-23T09:00:00Z");
        assertThat(slots("0 9 * * 7", "UTC", "2026-11-20T09:00:00Z", 1))
                .containsExactly("2026-11-22T09:00:00Z")
                .isEqualTo(slots("0 9 * * 0", "UTC", "2026-11-20T09:00:00Z", 1));
    }

    @Test
    void six_fields_begin_with_the_second() {
        assertThat(slots("*/20 * * * * *", "UTC", "2026-11-16T00:00:01.5Z", 3))
                .containsExactly("2026-11-16T00:00:20Z", "2026-11-16T00:00:40Z", "2026-11-16T00:01:00Z");
        assertThat(slots("* * * * * *", "UTC", "2026-11-16T00:00:01.5Z", 1)).containsExactly("2026-11-16T00:00:02Z");
        assertThat(slots("15 30 2 ? * MON", "UTC", "2026-11-16T12:00:00Z", 1)).containsExactly("2026-11-23T02:30:15Z");
    }

    @Test
    void a_day_of_the_month_and_one_of_the_week_both_count() {
        assertThat(slots("0 0 13 * FRI", "UTC", "2026-11-16T00:00:00Z", 5))
                .containsExactly(
                        "2026-11-20T00:00:00Z",
                        "2026-11-27T00:00:00Z",
                        "2026-12-04T00:00:00Z",
                        "2026-12-11T00:00:00Z",
                        "2026-12-13T00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({
        "@hourly, 2026-11-16T05:00:00Z",
        "@daily, 2026-11-17T00:00:00Z",
        "@midnight, 2026-11-17T00:00:00Z",
        "@weekly, 2026-11-22T00:00:00Z",
        "@monthly, 2026-12-01T00:00:00Z",
        "@yearly, 2027-01-01T00:00:00Z",
        "@annually, 2027-01-01T00:00:00Z"
    })
    void common_rhythms_have_names(String form, String next) {
        assertThat(slots(form, "UTC", "2026-11-16T04:20:00Z", 1)).containsExactly(next);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "* * * *",
                "* * * * * * *",
                "60 * * * *",
                "* 24 * * *",
                "* * 32 * *",
                "* * 0 * *",
                "* * * 13 *",
                "* * * * 8",
                "*/0 * * * *",
                "5-1 * * * *",
                "a b c d e",
                "@sometimes",
                "-1 * * * *",
                "1;2 * * * *",
                "0 0 * * MON#9"
            })
    void what_is_no_cron_expression_is_refused(String expression) {
        assertThatThrownBy(() -> Cron.of(expression, "UTC"))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("cron is '" + expression + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Berlin", "europe/berlin", "Mars/Olympus", "+25:00"})
    void what_is_no_zone_is_refused(String zone) {
        assertThatThrownBy(() -> Cron.of("* * * * *", zone))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("zone is '" + zone + "'");
    }

    @Test
    void a_day_that_never_comes_has_no_slot() {
        assertThat(Cron.of("0 0 30 2 *", "UTC").after(Instant.EPOCH)).isNull();
    }

    @Test
    void a_fixed_time_in_the_spring_gap_is_the_end_of_the_gap() {
        assertThat(local("30 2 * * *", BERLIN, "2026-03-28T12:00", 3))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00", "2026-03-31T02:30+02:00");
        assertThat(local("30 2 * * *", NEW_YORK, "2026-03-07T12:00", 2))
                .containsExactly("2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00");
        assertThat(local("15 2 * * *", LORD_HOWE, "2026-10-03T12:00", 2))
                .containsExactly("2026-10-04T02:30+11:00", "2026-10-05T02:15+11:00");
        assertThat(local("30 0 * * *", "Africa/Cairo", "2026-04-23T12:00", 2))
                .containsExactly("2026-04-24T01:00+03:00", "2026-04-25T00:30+03:00");
    }

    @Test
    void several_fixed_times_in_the_gap_are_one_slot() {
        assertThat(local("*/10 2 * * *", BERLIN, "2026-03-28T12:00", 2))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00");
        assertThat(local("0 2,3 * * *", BERLIN, "2026-03-28T12:00", 2))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00");
    }

    @Test
    void a_whole_day_that_a_zone_skips_ends_where_the_next_begins() {
        assertThat(local("0 2 * * *", "Pacific/Apia", "2011-12-29T12:00", 2))
                .containsExactly("2011-12-31T00:00+14:00", "2011-12-31T02:00+14:00");
    }

    @Test
    void a_fixed_time_in_the_autumn_fold_is_the_first_of_the_two() {
        assertThat(local("30 2 * * *", BERLIN, "2026-10-24T12:00", 2))
                .containsExactly("2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00");
        assertThat(local("30 1 * * *", NEW_YORK, "2026-10-31T12:00", 2))
                .containsExactly("2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00");
        assertThat(local("45 1 * * *", LORD_HOWE, "2026-04-04T12:00", 2))
                .containsExactly("2026-04-05T01:45+11:00", "2026-04-06T01:45+10:30");
    }

    @Test
    void between_the_two_times_of_a_fold_the_next_fixed_time_is_that_of_the_next_day() {
        var secondTime = Instant.parse("2026-10-25T01:15:00Z"); // 02:15 in Berlin, for the second time

        assertThat(Cron.of("30 2 * * *", BERLIN).after(secondTime)).isEqualTo("2026-10-26T01:30:00Z");
    }

    @Test
    void every_hour_follows_the_time_that_passes() {
        assertThat(slots("30 * * * *", BERLIN, "2026-03-28T23:45:00Z", 3))
                .as("over the gap")
                .containsExactly("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z");
        assertThat(slots("30 * * * *", BERLIN, "2026-10-24T23:45:00Z", 3))
                .as("over the fold")
                .containsExactly("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z");
        assertThat(slots("*/30 * * * *", NEW_YORK, "2026-11-01T05:15:00Z", 4))
                .containsExactly(
                        "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:00:00Z");
    }

    @Test
    void every_hour_is_so_however_it_is_written() {
        for (var hours : List.of("*", "*/1", "0-23", "0-11,12-23")) {
            assertThat(slots("30 " + hours + " * * *", BERLIN, "2026-10-24T23:45:00Z", 3))
                    .as(hours)
                    .containsExactly("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z");
        }
        assertThat(local("30 */2 * * *", BERLIN, "2026-03-29T01:00", 2))
                .as("every other hour is a fixed time")
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-29T04:30+02:00");
    }

    @Test
    void half_an_hour_of_daylight_saving_is_passed_by_what_the_clock_shows() {
        assertThat(local("30 * * * *", LORD_HOWE, "2026-04-05T01:00", 3))
                .as("half past one comes twice")
                .containsExactly("2026-04-05T01:30+11:00", "2026-04-05T01:30+10:30", "2026-04-05T02:30+10:30");
        assertThat(local("0 * * * *", LORD_HOWE, "2026-10-04T00:30", 3))
                .as("two o'clock does not come")
                .containsExactly("2026-10-04T01:00+10:30", "2026-10-04T03:00+11:00", "2026-10-04T04:00+11:00");
        assertThat(local("*/30 * * * *", LORD_HOWE, "2026-10-04T01:15", 3))
                .containsExactly("2026-10-04T01:30+10:30", "2026-10-04T02:30+11:00", "2026-10-04T03:00+11:00");
    }

    @Test
    void slots_only_ever_grow() {
        for (var zone : List.of(BERLIN, NEW_YORK, LORD_HOWE, "Africa/Casablanca", "America/Sao_Paulo", "UTC")) {
            for (var cron : List.of("*/15 1-3 * * *", "0 * * * *", "*/7 */3 * * *")) {
                for (var before :
                        List.of("2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24", "2026-10-31")) {
                    var slots = Cron.of(cron, zone).after(Instant.parse(before + "T00:00:00Z"), 50);

                    assertThat(slots).as(cron + " " + zone).isSorted().doesNotHaveDuplicates();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"* * * * *", "*/7 8-17 * * MON-FRI", "0 3 * * *", "*/30 * * * * *", "* 5 1 * *", "0 0 29 2 *"})
    void the_latest_slots_are_those_at_the_end_of_all(String cron) {
        var slots = Cron.of(cron, BERLIN);
        var now = Instant.parse("2026-11-16T10:00:00.7Z");
        var begin = now.minusSeconds(20L * 86_400);
        var all = slots.between(begin, now, Integer.MAX_VALUE);

        for (int count : List.of(1, 2, 50, 700)) {
            assertThat(slots.latest(begin, now, count))
                    .isEqualTo(all.subList(Math.max(0, all.size() - count), all.size()));
        }
    }

    @Test
    void the_latest_slots_are_found_without_going_through_all_that_passed() {
        var everySecond = Cron.of("* * * * * *", "UTC");
        var now = Instant.parse("2026-11-16T04:00:00.7Z");

        assertThat(everySecond.latest(now.minusSeconds(400L * 86_400), now, 3))
                .containsExactly(
                        Instant.parse("2026-11-16T03:59:58Z"),
                        Instant.parse("2026-11-16T03:59:59Z"),
                        Instant.parse("2026-11-16T04:00:00Z"));
        assertThat(everySecond.latest(now.minusSeconds(2), now, 100)).hasSize(2);
        assertThat(everySecond.latest(now, now, 100)).isEmpty();
        assertThat(Cron.of("* * * 1 1 *", "UTC").latest(now.minusSeconds(3_000L * 86_400), now, 2))
                .containsExactly(Instant.parse("2026-01-01T23:59:58Z"), Instant.parse("2026-01-01T23:59:59Z"));
    }

    private static List<String> slots(String cron, String zone, String after, int count) {
        return slots(cron, zone, Instant.parse(after), count)
                .map(Instant::toString)
                .toList();
    }

    private static List<String> local(String cron, String zone, String after, int count) {
        var zoneId = ZoneId.of(zone);
        return slots(cron, zone, LocalDateTime.parse(after).atZone(zoneId).toInstant(), count)
                .map(slot -> slot.atZone(zoneId).toOffsetDateTime().toString())
                .toList();
    }

    private static Stream<Instant> slots(String cron, String zone, Instant after, int count) {
        return Cron.of(cron, zone).after(after, count).stream();
    }
}
