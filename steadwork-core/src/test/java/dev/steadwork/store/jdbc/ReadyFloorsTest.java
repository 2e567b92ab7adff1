package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.store.jdbc.ReadyFloors.Span;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where claims look, while more wait than they take and once looking at everything has become slow. */
@Proves("CLAIM-6")
class ReadyFloorsTest {
    private static final Instant NOW = Instant.parse("2030-01-01T12:00:00Z");
    private static final Instant TAKEN = NOW.minus(ReadyFloors.MARGIN);
    private static final Instant HOUR_AGO = NOW.minus(Duration.ofHours(1));
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    private final WholeLooks wholeLooks = new WholeLooks();
    private final ReadyFloors floors = new ReadyFloors(wholeLooks);

    @Test
    void everything_is_looked_at_as_long_as_that_is_quick() {
        var look = floors.look(List.of("one", "two"));
        look.ended(10);

        look.foundAll(NOW, Stream.of(0));

        assertThat(look.untilWhole()).isNull();
        assertThat(floors.look(List.of("one", "two")).spans())
                .containsExactly(new Span("one", MAX, MIN, Instant.MIN), new Span("two", MAX, MIN, Instant.MIN));
    }

    @Test
    void a_claim_that_got_all_it_asked_for_is_followed_by_one_that_begins_where_it_ended() {
        floors.look(List.of("one")).foundEnough(NOW, 0, HOUR_AGO);

        var following = floors.look(List.of("one"));

        assertThat(following.spans())
                .containsExactly(
                        new Span("one", MAX, 1, Instant.MIN),
                        new Span("one", 0, 0, HOUR_AGO),
                        new Span("one", -1, MIN, Instant.MIN));
        assertThat(following.untilWhole())
                .as("until the next look at everything")
                .isZero();
    }

    @Test
    void everything_is_looked_at_after_a_claim_that_got_less_than_it_asked_for() {
        floors.look(List.of("one")).foundEnough(NOW, 0, HOUR_AGO);
        floors.look(List.of("one")).foundAll(NOW, Stream.of(0));

        assertThat(floors.look(List.of("one")).spans()).containsExactly(new Span("one", MAX, MIN, Instant.MIN));
    }

    @Test
    void everything_is_looked_at_after_a_hint_also_if_it_came_during_a_claim() {
        floors.look(List.of("one")).foundEnough(NOW, 0, HOUR_AGO);
        floors.told();
        var look = floors.look(List.of("one"));
        assertThat(look.untilWhole()).isNull();

        floors.told();
        look.foundEnough(NOW, 0, HOUR_AGO);

        assertThat(floors.look(List.of("one")).untilWhole()).isNull();
    }

    @Test
    void a_slow_look_is_not_repeated_at_once() {
        floors.look(List.of("one")).foundAll(NOW, Stream.of(0));
        wholeLooks.took(Duration.ofSeconds(1).toNanos(), 0);

        var look = floors.look(List.of("one"));

        assertThat(look.spans())
                .containsExactly(
                        new Span("one", MAX, 1, TAKEN), new Span("one", 0, 0, TAKEN), new Span("one", -1, MIN, TAKEN));
        assertThat(look.untilWhole()).isBetween(Duration.ofSeconds(19), Duration.ofSeconds(20));
    }

    @Test
    void as_many_runs_may_take_longer() {
        wholeLooks.took(Duration.ofMillis(40).toNanos(), 1000);
        assertThat(wholeLooks.areDue()).isTrue();

        wholeLooks.took(Duration.ofMillis(40).toNanos(), 10);
        assertThat(wholeLooks.areDue()).isFalse();
    }

    @Test
    void a_network_or_a_disk_that_takes_its_time_is_not_what_makes_a_look_slow() {
        wholeLooks.took(Duration.ofMillis(45).toNanos(), 0);
        assertThat(wholeLooks.areDue()).isFalse();

        wholeLooks.partTook(Duration.ofMillis(40).toNanos());
        wholeLooks.took(Duration.ofMillis(45).toNanos(), 0);
        assertThat(wholeLooks.areDue()).isTrue();
    }

    @Test
    void however_long_it_took_everything_is_looked_at_within_half_a_minute() {
        wholeLooks.took(Duration.ofMinutes(10).toNanos(), 0);

        assertThat(wholeLooks.untilNext()).isBetween(Duration.ofSeconds(29), Duration.ofSeconds(30));
    }

    @Test
    void a_claim_that_takes_only_some_leaves_what_is_less_urgent_and_what_is_newer() {
        floors.look(List.of("one")).foundEnough(HOUR_AGO, 5, HOUR_AGO.minusSeconds(60));
        floors.look(List.of("one")).foundEnough(NOW, 0, HOUR_AGO);
        beSlow();

        assertThat(floors.look(List.of("one")).spans())
                .containsExactly(
                        new Span("one", MAX, 6, Instant.MIN),
                        new Span("one", 5, 5, TAKEN),
                        new Span("one", 4, 1, Instant.MIN),
                        new Span("one", 0, 0, HOUR_AGO),
                        new Span("one", -1, MIN, Instant.MIN));
    }

    @Test
    void what_is_ready_since_a_moment_ago_may_not_be_seen_yet() {
        floors.look(List.of("one")).foundEnough(NOW, 0, NOW.minusMillis(1));
        beSlow();

        assertThat(floors.look(List.of("one")).spans()).contains(new Span("one", 0, 0, TAKEN));
    }

    @Test
    void a_run_that_became_ready_with_an_older_time_is_looked_for() {
        floors.look(List.of("one")).foundAll(NOW, Stream.of(0));
        beSlow();

        floors.becameReady(HOUR_AGO);

        assertThat(floors.look(List.of("one")).spans())
                .allMatch(span -> span.since().equals(HOUR_AGO));
    }

    @Test
    void a_claim_that_began_before_a_run_became_ready_does_not_say_that_it_was_taken() {
        var look = floors.look(List.of("one"));
        floors.becameReady(HOUR_AGO);
        look.foundAll(NOW, Stream.of(0));
        beSlow();

        assertThat(floors.look(List.of("one")).spans())
                .allMatch(span -> !span.since().isAfter(HOUR_AGO));
    }

    @Test
    void the_highest_and_the_lowest_priority_leave_no_gap_and_no_overlap() {
        floors.look(List.of("one")).foundAll(NOW, Stream.of(MAX, MIN));
        beSlow();

        assertThat(floors.look(List.of("one")).spans())
                .containsExactly(
                        new Span("one", MAX, MAX, TAKEN),
                        new Span("one", MAX - 1, MIN + 1, TAKEN),
                        new Span("one", MIN, MIN, TAKEN));
    }

    @Test
    void many_priorities_are_not_kept_apart_and_none_is_forgotten() {
        floors.look(List.of("one")).foundEnough(NOW, -1, HOUR_AGO);
        floors.look(List.of("one")).foundAll(NOW, IntStream.range(0, 100).boxed());
        floors.look(List.of("one")).foundEnough(NOW, 7, HOUR_AGO);
        beSlow();

        var spans = floors.look(List.of("one")).spans();

        assertThat(spans).hasSizeLessThan(20);
        assertThat(spans.stream()
                        .mapToLong(span -> span.highest() - (long) span.lowest() + 1)
                        .sum())
                .isEqualTo(1L << 32);
        assertThat(spans.stream().filter(span -> span.highest() >= 7 && span.lowest() <= 7))
                .allMatch(span -> !span.since().isAfter(HOUR_AGO));
    }

    private void beSlow() {
        wholeLooks.took(Duration.ofMinutes(1).toNanos(), 0);
    }
}
