package dev.steadwork.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.Proves;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many runs a worker asks for at once. */
@Proves("CLAIM-1")
class SlotsTest {
    @Test
    void a_claim_is_for_no_more_than_half_of_many_slots() {
        var slots = new Slots(1000, Map.of());
        slots.take("checkout");

        assertThat(slots.reserve(null, true, false)).isEqualTo(500);

        for (int i = 1; i < 700; i++) {
            slots.take("checkout");
        }
        assertThat(slots.reserve(null, true, false)).isEqualTo(300);
    }

    @Test
    void the_first_claim_of_an_idle_worker_with_many_slots_is_small() {
        assertThat(new Slots(1000, Map.of()).reserve(null, true, false)).isEqualTo(128);
    }

    @Test
    void a_claim_may_be_for_all_of_a_few_slots() {
        assertThat(new Slots(256, Map.of()).reserve(null, true, false)).isEqualTo(256);
        assertThat(new Slots(1, Map.of()).reserve(null, true, false)).isEqualTo(1);
    }

    @Test
    void a_claim_of_short_runs_is_for_all_free_slots() {
        var slots = new Slots(1000, Map.of());

        assertThat(slots.reserve(null, true, true)).isEqualTo(1000);
    }

    @Test
    void a_claim_that_is_not_for_all_leaves_half_of_the_free_slots_to_runs_that_are_created_here() {
        var slots = new Slots(10, Map.of());

        assertThat(slots.reserve(null, false, false)).isEqualTo(5);
        assertThat(slots.tryTake("checkout", 4)).isTrue();
        assertThat(slots.tryTake("checkout", 4)).isFalse();
    }

    @Test
    void a_claim_for_a_limited_type_is_bounded_by_its_limit() {
        var slots = new Slots(100, Map.of("resize", 3));
        slots.take("resize");

        assertThat(slots.reserve("resize", true, false)).isEqualTo(2);
    }
}
