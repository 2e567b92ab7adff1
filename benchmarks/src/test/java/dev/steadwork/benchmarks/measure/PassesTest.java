package dev.steadwork.benchmarks.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PassesTest {
    @Test
    void the_five_passes_that_lost_least_to_other_tenants_count_whatever_they_measured() {
        var passes = new Passes();
        passes.add(9, 0.4);
        for (double seconds : new double[] {1, 5, 2, 4, 3}) {
            passes.add(seconds, 0.01);
        }
        passes.add(0.1, 0.3);

        assertThat(passes.median()).isEqualTo(3);
        assertThat(passes.stolen()).isCloseTo(0.01, within(1e-9));
        assertThat(passes.count()).isEqualTo(7);
    }

    @Test
    void a_quick_pass_is_measured_at_least_five_and_at_most_ten_times() throws Exception {
        var calls = new AtomicInteger();

        var passes = Passes.of(Turn.Phase.MEASURE, () -> calls.incrementAndGet());

        assertThat(calls).hasValueBetween(5, 10);
        assertThat(passes.count()).isEqualTo(calls.get());
    }

    @Test
    void stolen_is_a_share_of_the_time_that_was_wanted_since() {
        var before = new ProcessorTime(1_000, 10);

        assertThat(new ProcessorTime(1_200, 60).stolenSince(before)).isEqualTo(0.25);
        assertThat(before.stolenSince(before)).isZero();
    }
}
