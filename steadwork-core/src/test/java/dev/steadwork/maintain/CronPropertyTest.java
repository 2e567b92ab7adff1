package dev.steadwork.maintain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.steadwork.InvalidArgument;
import dev.steadwork.input.Nasty;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/** Any text at all as a cron expression or a zone, and any expression against a reader that tries minute by minute. */
class CronPropertyTest {
    private static final String SEED = "20261116";
    private static final Instant START = Instant.parse("2026-11-16T04:20:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration WINDOW = Duration.ofDays(3);

    /** Each shortly before a change of the clock there: by an hour, by half an hour, at midnight, by a whole day. */
    private static final List<Place> PLACES = List.of(
            new Place("UTC", "2026-02-27T12:00:00Z"),
            new Place("Europe/Berlin", "2026-03-28T12:00:00Z"),
            new Place("Europe/Berlin", "2026-10-24T12:00:00Z"),
            new Place("America/New_York", "2026-03-07T12:00:00Z"),
            new Place("America/New_York", "2026-10-31T12:00:00Z"),
            new Place("Australia/Lord_Howe", "2026-04-04T00:00:00Z"),
            new Place("Australia/Lord_Howe", "2026-10-03T00:00:00Z"),
            new Place("Africa/Cairo", "2026-04-23T00:00:00Z"),
            new Place("Pacific/Apia", "2011-12-29T12:00:00Z"),
            new Place("+05:45", "2027-12-30T12:00:00Z"));

    @Property(seed = SEED, tries = 1_500, shrinking = ShrinkingMode.BOUNDED)
    void any_text_is_refused_or_names_times_that_only_grow(@ForAll("almostCron") String expression) {
        refusedOrGrows(expression, "Europe/Berlin");
    }

    @Example
    void every_nasty_text_is_refused_as_a_cron_expression_and_as_a_zone() {
        for (var nasty : Nasty.values()) {
            refusedOrGrows(nasty.text(), "UTC");
            refusedOrGrows("0 3 * * *", nasty.text());
        }
    }

    @Property(seed = SEED, tries = 300)
    void any_text_is_refused_as_a_zone_or_is_one(@ForAll String zone) {
        refusedOrGrows("30 2 * * *", zone);
    }

    @Property(seed = SEED, tries = 100, shrinking = ShrinkingMode.BOUNDED)
    void an_expression_names_the_minutes_that_a_simple_reader_finds(
            @ForAll("cron") Fields fields, @ForAll("places") Place place) {
        var begin = Instant.parse(place.begin);
        var end = begin.plus(WINDOW);

        var slots = Cron.of(fields.text(), place.zone).between(begin, end, Integer.MAX_VALUE);

        assertThat(slots)
                .as("%s in %s", fields.text(), place.zone)
                .isEqualTo(minuteByMinute(fields, place, begin, end));
    }

    private static void refusedOrGrows(String expression, String zone) {
        var began = System.nanoTime();
        try {
            var slots = Cron.of(expression, zone).after(START, 10);
            var last = START;
            for (var slot : slots) {
                assertThat(slot).as("a slot of '%s'", expression).isAfter(last);
                last = slot;
            }
        } catch (InvalidArgument refused) {
            assertThat(refused.getMessage()).containsAnyOf("cron is '", "zone is '");
        } catch (RuntimeException wrong) {
            fail("cron '%s' in zone '%s' ended with %s".formatted(expression, zone, wrong), wrong);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .as("time for '%s'", expression)
                .isLessThan(PATIENCE);
    }

    @Provide
    Arbitrary<String> almostCron() {
        var atom = Arbitraries.of(
                "*",
                "?",
                "0",
                "1",
                "5",
                "7",
                "12",
                "23",
                "24",
                "31",
                "32",
                "59",
                "60",
                "99999999999",
                "-1",
                "L",
                "W",
                "LW",
                "1W",
                "31W",
                "5L",
                "L-3",
                "1#1",
                "5#5",
                "7#6",
                "MON",
                "SUN",
                "JAN",
                "DEC",
                "FEBR",
                "",
                "x",
                "29",
                "30",
                "2");
        var joint = Arbitraries.of("", "/", "-", ",", "#", "L", "W", "//", "--", ",,");
        var field = Combinators.combine(atom, joint, atom, joint, atom).as((a, i, b, j, c) -> switch (i.length()) {
            case 0 -> a;
            default -> j.isEmpty() ? a + i + b : a + i + b + j + c;
        });
        var fields = field.list().ofMinSize(4).ofMaxSize(7).map(all -> String.join(" ", all));
        var likely = Combinators.combine(
                        field, field, field, Arbitraries.integers().between(0, 4))
                .as((a, b, c, place) -> {
                    var all = new ArrayList<>(List.of("0", "3", "*", "*", "*"));
                    all.set(place, a);
                    all.set((place + 1) % 5, b);
                    return String.join(" ", all);
                });
        var letters = Arbitraries.strings()
                .withChars("0123456789*/,-?LW# \t@MONFRIJAN\u0000\u0661\ud83d")
                .ofMaxLength(30);
        return Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(3, fields),
                net.jqwik.api.Tuple.of(5, likely),
                net.jqwik.api.Tuple.of(2, letters),
                net.jqwik.api.Tuple.of(1, Arbitraries.strings().ofMaxLength(300)));
    }

    @Provide
    Arbitrary<Place> places() {
        return Arbitraries.of(PLACES);
    }

    @Provide
    Arbitrary<Fields> cron() {
        var days = Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(3, Arbitraries.just(new Field("*", range(1, 31)))),
                net.jqwik.api.Tuple.of(2, field(1, 31)));
        var months = Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(4, Arbitraries.just(new Field("*", range(1, 12)))),
                net.jqwik.api.Tuple.of(1, field(1, 12)));
        var weekdays = Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(3, Arbitraries.just(new Field("*", range(0, 6)))),
                net.jqwik.api.Tuple.of(2, field(0, 6)));
        return Combinators.combine(field(0, 59), field(0, 23), days, months, weekdays)
                .as(Fields::new);
    }

    /** A star, a number, a range, a step, or a list of them: the text and the numbers that it means. */
    private static Arbitrary<Field> field(int from, int to) {
        var star = Arbitraries.just(new Field("*", range(from, to)));
        var one = Arbitraries.integers().between(from, to).map(n -> new Field("" + n, Set.of(n)));
        var ends = Arbitraries.integers().between(from, to).tuple2();
        var range = ends.map(t -> {
            int low = Math.min(t.get1(), t.get2());
            int high = Math.max(t.get1(), t.get2());
            return new Field(low + "-" + high, range(low, high));
        });
        var step = Arbitraries.integers().between(1, to);
        var everySome = step.map(n -> new Field("*/" + n, every(range(from, to), n)));
        var some = Combinators.combine(range, step).as((r, n) -> new Field(r.text + "/" + n, every(r.numbers, n)));
        var single = Arbitraries.oneOf(one, range, everySome, some);
        var list = single.list()
                .ofMinSize(2)
                .ofMaxSize(3)
                .map(all -> new Field(
                        all.stream().map(Field::text).collect(Collectors.joining(",")),
                        all.stream().flatMap(f -> f.numbers.stream()).collect(Collectors.toCollection(TreeSet::new))));
        return Arbitraries.oneOf(star, single, list);
    }

    private static Set<Integer> range(int from, int to) {
        return IntStream.rangeClosed(from, to).boxed().collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<Integer> every(Set<Integer> numbers, int step) {
        int first = numbers.iterator().next();
        return numbers.stream().filter(n -> (n - first) % step == 0).collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Instant> minuteByMinute(Fields fields, Place place, Instant begin, Instant end) {
        var zone = ZoneId.of(place.zone);
        var found = new TreeSet<Instant>();
        if (fields.hour.numbers.size() == 24) {
            for (var minute = begin; !minute.isAfter(end); minute = minute.plusSeconds(60)) {
                if (fields.match(LocalDateTime.ofInstant(minute, zone))) {
                    found.add(minute);
                }
            }
        } else {
            var last = LocalDateTime.ofInstant(end, zone).plusDays(2);
            for (var local = LocalDateTime.ofInstant(begin, zone).minusDays(2);
                    local.isBefore(last);
                    local = local.plusMinutes(1)) {
                if (fields.match(local)) {
                    var offsets = zone.getRules().getValidOffsets(local);
                    found.add(
                            offsets.isEmpty()
                                    ? zone.getRules().getTransition(local).getInstant()
                                    : local.toInstant(offsets.get(0)));
                }
            }
        }
        return found.stream()
                .filter(slot -> slot.isAfter(begin) && !slot.isAfter(end))
                .toList();
    }

    /** A zone and a time there. */
    record Place(String zone, String begin) {}

    record Field(String text, Set<Integer> numbers) {}

    record Fields(Field minute, Field hour, Field day, Field month, Field weekday) {
        String text() {
            return String.join(" ", minute.text, hour.text, day.text, month.text, weekday.text);
        }

        boolean match(LocalDateTime time) {
            return minute.numbers.contains(time.getMinute())
                    && hour.numbers.contains(time.getHour())
                    && month.numbers.contains(time.getMonthValue())
                    && matchesDay(time);
        }

        /** As everywhere: if both kinds of days are restricted, either counts. */
        private boolean matchesDay(LocalDateTime time) {
            boolean ofMonth = day.numbers.contains(time.getDayOfMonth());
            boolean ofWeek = weekday.numbers.contains(time.getDayOfWeek().getValue() % 7);
            boolean either = !day.text.equals("*") && !weekday.text.equals("*");
            return either ? ofMonth || ofWeek : ofMonth && ofWeek;
        }
    }
}
