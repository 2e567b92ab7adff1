package dev.steadwork.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FaultPlanTest {
    private static final Duration LEASE = Duration.ofSeconds(2);

    @Test
    void the_same_seed_gives_the_same_faults() {
        assertThat(plan(7)).isEqualTo(plan(7)).isNotEqualTo(plan(8));
    }

    @Test
    void every_fault_comes_sooner_or_later() {
        assertThat(plan(7)).extracting(Fault::kind).containsAll(FaultKind.OF_POSTGRES);
    }

    @Test
    void a_worker_is_frozen_for_longer_than_its_lease() {
        assertThat(plan(7))
                .filteredOn(fault -> fault.kind() == FaultKind.FREEZE)
                .allSatisfy(fault -> assertThat(fault.lasts()).isGreaterThan(LEASE));
    }

    private static List<Fault> plan(long seed) {
        var plan = new FaultPlan(seed, EnumSet.copyOf(FaultKind.OF_POSTGRES), LEASE);
        return Stream.generate(plan::next).limit(300).toList();
    }
}
